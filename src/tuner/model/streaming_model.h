#pragma once

#include "codegen/kernel_cost.h"
#include "core/device.h"
#include "core/problem.h"
#include "tuner/model/performance_model.h"

namespace gemmtune::tuner {

// The model of gemv and skinny, whose blocks stream one operand through registers: the time is that
// of the busiest SM, the larger of its share of the long operand at the rate that its bytes in
// flight allow, and of its multiplications; then the sums meet. Fills all of Prediction but what
// predict() has filled before: `occupancy` (at least one block) and `waves`.
void predict_streaming(const codegen::KernelSpec& spec, const Problem& problem,
                       const DeviceSpec& device, const codegen::KernelWork& work, Prediction& out);

}  // namespace gemmtune::tuner
