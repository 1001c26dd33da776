#pragma once

#include <vector>

#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "core/problem.h"

namespace gemmtune::tuner {

// What a regression may learn a candidate's speed from: its strategy and tile, how the tile divides
// the problem and the device, the analytic model's opinion, and the problem. The same number of
// features for every candidate; sizes as logarithms.
std::vector<float> candidate_features(const codegen::KernelSpec& spec, const Problem& problem,
                                      const DeviceSpec& device);

// A time that no kernel for the problem can be much below, in microseconds: times of different
// problems become comparable when divided by it.
double ideal_us(const Problem& problem, const DeviceSpec& device);

}  // namespace gemmtune::tuner
