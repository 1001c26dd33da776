#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// Very few rows or columns: the long operand straight to registers;
// kernels_templates/gemv.cuh.
const Strategy& gemv();

}  // namespace gemmtune::codegen
