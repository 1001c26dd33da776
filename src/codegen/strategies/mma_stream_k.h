#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// mma_multistage with even shares of all multiplications instead of even tiles;
// kernels_templates/mma_stream_k.cuh.
const Strategy& mma_stream_k();

}  // namespace gemmtune::codegen
