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

// The most turns of a contender: some times vary however often they are taken.
inline constexpr int kMostTurns = 12;

// Which contenders are due more turns, together: where the median of a side's fastest is not known
// to 1%, that one and those that may be as fast. Of these, those that have had the fewest turns, if
// that are fewer than kMostTurns. In their order; empty: none.
std::vector<size_t> for_more_turns(std::span<const AllTurns> contenders);

}  // namespace gemmtune::tuner
