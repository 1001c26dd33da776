#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32 on the SIMT units, a cp.async pipeline of shared-memory buffers;
// kernels_templates/multistage.cuh.
const Strategy& multistage();

}  // namespace gemmtune::codegen
