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

// A lower bound of that time however work is shared out (shares_out_work()): `tiles_of_sm` are the
// tiles of C over the SMs, `warps` those that an SM holds at most.
double least_streaming_us(const codegen::KernelSpec& spec, const Problem& problem,
                          const DeviceSpec& device, double tiles_of_sm, double warps);

}  // namespace gemmtune::tuner
