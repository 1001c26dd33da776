#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// f16, bf16, and f32 rounded to f16, on the tensor cores by nvcuda::wmma's 16 x 16 x 16 products,
// two padded shared-memory buffers filled through registers; kernels_templates/wmma.cuh.
const Strategy& wmma();

}  // namespace gemmtune::codegen
