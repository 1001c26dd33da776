#pragma once

#include "parts/shared/tile_config.h"
#include "parts/shared/whole_numbers.h"

// Tiles of f32 sums over a part of k, where blocks or groups of warps share out the k of a tile of
// C, and how the work of adding up those in the workspace is cut into blocks (parts/reduce/).

namespace gemmtune {

// Of a row in shared memory, against bank conflicts: threads of the fp32 kernels store 4 columns at
// a time, lanes of the tensor-core kernels pairs.
inline constexpr int kSimtPartialPadding = 4;
inline constexpr int kMmaPartialPadding = 8;

// Of a tile in shared memory.
GEMMTUNE_HOST_DEVICE constexpr int partial_tile_bytes(const TileConfig& tile, int padding) {
  return tile.tile_m * (tile.tile_n + padding) * 4;
}

// Of a slot of the workspace, which holds a tile without padding.
GEMMTUNE_HOST_DEVICE constexpr int slot_floats(const TileConfig& tile) {
  return tile.tile_m * tile.tile_n;
}

// Neighbouring columns of a tile that are read and added at a time; gemv and skinny, whose tiles
// may be one column wide or begin anywhere, go one by one.
inline constexpr int kPartialVector = 4;
inline constexpr int kSkinnyPartialVector = 1;

// Threads of a block of the kernels that add up slots, or scale C before atomic additions.
inline constexpr int kFinishThreads = 256;
inline constexpr int kPrepareThreads = 256;

// Groups of a block's threads that share out the slots of a tile: a power of two, so few that each
// has several slots to wait for at once and reads whole 128-byte lines. Many slots are those of
// small matrices, which all SMs should help with.
GEMMTUNE_HOST_DEVICE constexpr int finish_ways(int slots, int vector) {
  if (slots >= 64) return 8 * vector;
  return slots >= 16 ? 8 : slots >= 8 ? 4 : slots >= 4 ? 2 : 1;
}

// Blocks for a tile of `floats` sums.
GEMMTUNE_HOST_DEVICE constexpr int finish_blocks_of_tile(int floats, int vector, int ways) {
  return (floats / vector * ways + kFinishThreads - 1) / kFinishThreads;
}

}  // namespace gemmtune
