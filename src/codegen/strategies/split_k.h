#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// The multistage kernel with k shared out over several blocks a tile;
// kernels_templates/split_k.cuh.
const Strategy& split_k();

}  // namespace gemmtune::codegen
