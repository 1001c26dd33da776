#pragma once

#include "parts/shared/partial_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// How the blocks of a cluster, each with the sums of a tile of C over a slice of k, share out the
// adding up (parts/reduce/cluster_sums.cuh).

namespace gemmtune {

// Block r adds up rows r * rows .. (r + 1) * rows of the tile, as far as it has them. It keeps its
// own sums of them, and has a slot for those of each other block. In a slot lie together what a
// thread holds of 16 columns of C:
//
//     a line for each row of C:                   columns 0 1 8 9 | 2 3 10 11 | 4 5 12 13 | ...
//     exchanged, a line for columns n and n + 8:  (n, m) (n, m+1) (n+8, m) (n+8, m+1) | m + 2 ...
//
struct ClusterSums {
  static constexpr int kGroup = 8;  // rows whose sums lie in one warp

  int tile_m;
  int rows;
  int lines;
  int stride;  // floats from line to line

  GEMMTUNE_HOST_DEVICE explicit constexpr ClusterSums(const TileConfig& tile)
      : tile_m(tile.tile_m), rows(0), lines(0), stride(0) {
    const int slices = at_least_one(tile.slices);
    const int groups = tile.tile_m / kGroup;
    rows = (groups + slices - 1) / slices * kGroup;
    lines = tile.exchange != 0 ? tile.tile_n / 2 : rows;
    stride = tile.exchange != 0 ? rows * 2 + 4 : tile.tile_n + kMmaPartialPadding;
  }

  GEMMTUNE_HOST_DEVICE constexpr int slot_floats() const { return lines * stride; }
  GEMMTUNE_HOST_DEVICE constexpr int slot_bytes() const { return slot_floats() * 4; }

  // Rows that a block adds up.
  GEMMTUNE_HOST_DEVICE constexpr int rows_of(int block) const {
    const int left = tile_m - block * rows;
    return left < 0 ? 0 : left < rows ? left : rows;
  }
};

// Between the stages and their barriers: what a block's own part has no room for in place of the
// stages, the slots of the others, and the barrier that counts what these store.
GEMMTUNE_HOST_DEVICE constexpr int cluster_sums_bytes(const TileConfig& tile, int stages_bytes) {
  const ClusterSums sums(tile);
  return wgmma_bytes_behind_stages(stages_bytes, sums.slot_bytes()) +
         (tile.slices - 1) * sums.slot_bytes() + kBarrierBytes;
}

}  // namespace gemmtune
