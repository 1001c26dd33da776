#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32: thread_m x thread_n results a thread as outer products of fragments in registers;
// kernels_templates/register_cache.cuh.
const Strategy& register_cache();

}  // namespace gemmtune::codegen
