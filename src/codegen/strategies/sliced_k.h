#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// multistage with the k of a block's tile shared out over groups of its warps
// (kernels_templates/sliced_k.cuh).
const Strategy& sliced_k();

}  // namespace gemmtune::codegen
