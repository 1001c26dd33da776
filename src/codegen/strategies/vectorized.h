#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: register_cache with vector accesses to global and shared memory, transposed and padded
// tiles; kernels_templates/vectorized.cuh.
const Strategy& vectorized();

}  // namespace gemmtune::codegen
