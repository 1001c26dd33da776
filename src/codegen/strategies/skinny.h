#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// Few rows or columns, the few operand in shared memory;
// kernels_templates/skinny.cuh.
const Strategy& skinny();

}  // namespace gemmtune::codegen
