#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: thread_m results a thread, in one column; operands through shared memory;
// kernels_templates/thread_tile_1d.cuh.
const Strategy& thread_tile_1d();

}  // namespace gemmtune::codegen
