#pragma once

#include <cstdint>

#include "codegen/strategy.h"

// Tiles of f32 partial sums of the tensor-core kernels, and the kernel that adds up those in the
// workspace: the host's side of kernels_templates/parts/mma_partials.cuh.

namespace gemmtune::codegen::mma {

// Bytes of a tile in shared memory, and of a slot of the workspace.
int partial_tile_bytes(const TileConfig& tile);
int64_t slot_bytes(const TileConfig& tile);

// Blocks of that kernel for a tile of up to `slots` slots.
int finish_blocks(const TileConfig& tile, int slots);

EntryPoint finish_entry_point();

}  // namespace gemmtune::codegen::mma
