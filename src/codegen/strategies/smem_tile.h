#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: one thread an element of a square block tile, operands through shared memory;
// kernels_templates/smem_tile.cuh.
const Strategy& smem_tile();

}  // namespace gemmtune::codegen
