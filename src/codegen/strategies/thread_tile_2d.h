#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: thread_m x thread_n results a thread, operands named in shared memory by each product;
// kernels_templates/thread_tile_2d.cuh.
const Strategy& thread_tile_2d();

}  // namespace gemmtune::codegen
