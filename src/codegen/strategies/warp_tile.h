#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: block, warp and thread tiles; one shared-memory buffer, vector accesses;
// kernels_templates/warp_tile.cuh.
const Strategy& warp_tile();

}  // namespace gemmtune::codegen
