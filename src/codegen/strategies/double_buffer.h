#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// fp32 on the SIMT units, two shared-memory buffers; kernels_templates/double_buffer.cuh.
const Strategy& double_buffer();

}  // namespace gemmtune::codegen
