#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/measure/statistics.h"

namespace gemmtune::tuner {

// Candidates of a final round.
inline constexpr size_t kInFinalRound = 4;

// What is known of a candidate before the final round; times in microseconds.
struct HeatTimes {
  double search_us = 0;   // in the search's short series, at full clocks
  double lasting_us = 0;  // under a lasting load, at the clocks that the power limit leaves
  bool stays = false;
};

// Which candidates go on to the final round, in their order: the kInFinalRound best by the product
// of both times, and all that stay. Programs run at either clocks: a product between other kernels
// at nearly full ones, one after another at those of the limit. A kernel that needs little energy
// and much time is good for the second only.
std::vector<size_t> for_final_round(std::span<const HeatTimes> heats);

// Who takes so many times the fastest one's time computes the product in another way.
inline constexpr double kFarBehind = 2;

// Of own kernels, and of the vendor's algorithms: the most that have more than the first turns of a
// final round.
inline constexpr size_t kBeyondFirstTurns = 2;

// What a contender of the final round has shown in its first turns.
struct FirstTurns {
  double time_us = 0;
  bool is_vendor = false;
  bool stays = false;
};

// Which contenders have further turns, in their order: the kBeyondFirstTurns fastest of either
// side, and all that stay.
std::vector<size_t> for_further_turns(std::span<const FirstTurns> contenders);

// What a contender of the final round has shown in all its turns.
struct AllTurns {
  MedianInterval time_us;
  bool is_vendor = false;
};

// Whether the median of the fastest own kernel, or of the fastest algorithm, is known to less than
// 1%, so that more turns are due.
bool needs_more_turns(std::span<const AllTurns> contenders);

}  // namespace gemmtune::tuner
