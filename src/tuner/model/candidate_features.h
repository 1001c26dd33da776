#pragma once

#include <cstddef>
#include <string>
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

// What they are called, in their order.
std::vector<std::string> candidate_feature_names();
// The one that is the strategy's place in codegen::strategies().
size_t strategy_feature();

}  // namespace gemmtune::tuner
