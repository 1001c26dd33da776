#pragma once

#include <cstdint>

#include "codegen/launch_plan.h"
#include "core/problem.h"
#include "core/tile_config.h"

// One block per tile of C, in the one-dimensional grid that raster.cuh unfolds.

namespace gemmtune::codegen {

int64_t tile_blocks(const TileConfig& tile, const Problem& problem);

// The same, with its formula, `times` as many.
BlockCount tile_grid(const TileConfig& tile, const Problem& problem, int times = 1);

// Blocks that take `per_block` elements of C each.
BlockCount element_grid(int64_t per_block, const Problem& problem);

}  // namespace gemmtune::codegen
