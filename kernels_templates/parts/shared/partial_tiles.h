#pragma once

#include "parts/shared/tile_config.h"
#include "parts/shared/whole_numbers.h"

// Tiles of f32 partial sums: where k is shared out, the parts of a tile of C are added up in shared
// memory or through the workspace. And how the work of adding up those in the workspace is cut into
// blocks.

namespace gemmtune {

// Floats of a row of such a tile in shared memory, padded against bank conflicts: of the fp32
// kernels (partial_tile.cuh), which store 4 columns at a time, and of the tensor-core kernels
// (mma_partials.cuh), whose lanes store pairs of columns.
GEMMTUNE_HOST_DEVICE constexpr int partial_row_floats(const TileConfig& tile) {
  constexpr int kPadding = 4;
  return tile.tile_n + kPadding;
}
GEMMTUNE_HOST_DEVICE constexpr int mma_partial_row_floats(const TileConfig& tile) {
  constexpr int kPadding = 8;
  return tile.tile_n + kPadding;
}

// Of the whole tile.
GEMMTUNE_HOST_DEVICE constexpr int partial_tile_bytes(const TileConfig& tile) {
  return tile.tile_m * partial_row_floats(tile) * 4;
}
GEMMTUNE_HOST_DEVICE constexpr int mma_partial_tile_bytes(const TileConfig& tile) {
  return tile.tile_m * mma_partial_row_floats(tile) * 4;
}

// Of a tensor-core kernel's slot of the workspace, which holds one such tile without padding.
GEMMTUNE_HOST_DEVICE constexpr int slot_floats(const TileConfig& tile) {
  return tile.tile_m * tile.tile_n;
}

inline constexpr int kPartialVector = 4;       // floats that are read at a time
inline constexpr int kMmaFinishThreads = 256;  // a block

// Groups of warps that share out the slots of a tile: a power of two, so few that each has several
// slots to wait for at once.
GEMMTUNE_HOST_DEVICE constexpr int finish_ways(int slots) {
  return slots >= 16 ? 8 : slots >= 8 ? 4 : slots >= 4 ? 2 : 1;
}

// Blocks for a tile of `floats` sums.
GEMMTUNE_HOST_DEVICE constexpr int finish_blocks_of_tile(int floats, int ways) {
  return (floats / kPartialVector * ways + kMmaFinishThreads - 1) / kMmaFinishThreads;
}

// Of the kernels for the fp32 kernels' dense products in the workspace (slice_sum.cuh): one adds
// them up, one scales C before atomic additions.
inline constexpr int kSliceFinishThreads = 256;
inline constexpr int kSlicePrepareThreads = 256;

// Vectors of C a block, of `vector` floats each. Short where there are many slices: C is small
// then, and all SMs should help.
GEMMTUNE_HOST_DEVICE constexpr int slice_finish_vectors(int slices, int vector) {
  return slices >= 64 ? 32 / vector : 32;
}

}  // namespace gemmtune
