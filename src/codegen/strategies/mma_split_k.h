#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// mma_multistage with the k of a tile of C shared out over groups of a block's warps, over several
// blocks, or both; kernels_templates/mma_split_k.cuh.
const Strategy& mma_split_k();

}  // namespace gemmtune::codegen
