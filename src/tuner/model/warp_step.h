#pragma once

#include "codegen/kernel_cost.h"
#include "codegen/kernel_spec.h"

namespace gemmtune::tuner {

// What one warp does for one k, by the tile: part of the performance model. All counts are above 0
// and finite for every legal tile.
struct WarpStep {
  double ffma = 0;             // issue slots
  double other = 0;            // issue slots of fragment reads, copies and barriers
  double smem_wavefronts = 0;  // 128-byte passes over the shared-memory banks; naive: over L1
};

WarpStep warp_step(const codegen::KernelSpec& spec, const codegen::MainloopCost& loop);

}  // namespace gemmtune::tuner
