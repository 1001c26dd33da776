#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: one thread an element, operands straight from global memory; kernels_templates/naive.cuh.
const Strategy& naive();

}  // namespace gemmtune::codegen
