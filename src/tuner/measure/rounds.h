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

// One of each, the first or the last contender first; in the contenders' order.
gpu::Result<std::vector<RoundSample>> take_round(std::span<const Contender> contenders,
                                                 const TakeSample& take, bool last_first);

// How rounds go on until each contender has all samples, with those that it had before; all have
// had as many.
struct Rounds {
  int samples = 0;
  // A round in which limiters of these kinds slowed some contenders and not others is thrown away,
  // but no more rounds than `samples`.
  uint64_t limiters = 0;
  bool both_ways = false;  // every other one from the last contender to the first
  // Asked behind each round; empty: never.
  std::function<bool()> time_is_up = {};
  int fewest = 0;  // samples of each that are taken whatever the time
};

// Appends to the contenders what `take` says of each.
gpu::Result<void> take_rounds(std::span<Contender> contenders, const TakeSample& take,
                              const Rounds& rounds);

}  // namespace gemmtune::tuner
