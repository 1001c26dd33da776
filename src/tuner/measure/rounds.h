#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "gpu/driver.h"
#include "gpu/nvml.h"
#include "tuner/measure/benchmark.h"

namespace gemmtune::tuner {

// Takes a sample of a contender.
using TakeSample = std::function<gpu::Result<RoundSample>(const Contender& contender)>;

// `count` contenders, each once, in an order of which round 0, 1, 2 ... begin at different places,
// a third of a round apart, and in which contenders that are neighbours do not follow each other.
// So a time in which the card is slow hits contenders of several kinds, and each in one round at
// most if it is shorter than half a round.
std::vector<size_t> spread_order(size_t count, int round);

// One of each, in this order; the samples are in the contenders' order.
gpu::Result<std::vector<RoundSample>> take_round(std::span<const Contender> contenders,
                                                 const TakeSample& take,
                                                 std::span<const size_t> order);

// How rounds go on until each contender has all samples, with those that it had before; all have
// had as many.
struct Rounds {
  int samples = 0;
  // A round in which limiters of these kinds slowed some contenders and not others is thrown away,
  // but no more rounds than `samples`.
  uint64_t limiters = 0;
  bool spread = false;  // in spread_order(), not from the first contender to the last
  // Asked behind each round; empty: never.
  std::function<bool()> time_is_up = {};
  int fewest = 0;  // samples of each that are taken whatever the time
};

// Appends to the contenders what `take` says of each.
gpu::Result<void> take_rounds(std::span<Contender> contenders, const TakeSample& take,
                              const Rounds& rounds);

}  // namespace gemmtune::tuner
