#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// f16 and bf16 on the tensor cores by mma.sync, a cp.async pipeline of swizzled shared-memory
// buffers; kernels_templates/mma_multistage.cuh.
const Strategy& mma_multistage();

}  // namespace gemmtune::codegen
