#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// mma_multistage on copies of the operands that 16 bytes do not divide;
// kernels_templates/mma_misaligned.cuh.
const Strategy& mma_misaligned();

}  // namespace gemmtune::codegen
