#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// Short rows or columns, the short operand in shared memory;
// kernels_templates/skinny.cuh.
const Strategy& skinny();

}  // namespace gemmtune::codegen
