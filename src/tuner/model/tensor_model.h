#pragma once

#include "codegen/kernel_cost.h"
#include "codegen/kernel_spec.h"
#include "core/device.h"

namespace gemmtune::tuner {

// What a block of a tensor-core kernel (mma.sync) keeps busy on an SM for one value of k (one of
// each group's part, where groups of warps share out k), in cycles of the SM: part of the
// performance model. Both are above 0 and finite for every legal tile.
struct TensorCost {
  double busy = 0;  // tensor cores, issue slots and shared memory, as far as they overlap
  double smem = 0;  // shared memory's banks alone: fragments read, copies written
};
TensorCost tensor_cost(const codegen::KernelSpec& spec, const codegen::MainloopCost& loop,
                       const DeviceSpec& device);

// Share of that rate that `warps` resident warps of an SM keep up, in (0, 1).
double tensor_latency_hiding(const codegen::KernelSpec& spec, const codegen::MainloopCost& loop,
                             double warps);

}  // namespace gemmtune::tuner
