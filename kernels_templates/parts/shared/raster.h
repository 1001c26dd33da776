#pragma once

#include "parts/shared/host_device.h"

// Which tile of C a block computes.
//
// Blocks start in the order of blockIdx.x. In plain row order the blocks that run together cover a
// few long rows of tiles and read nearly all of B; in groups of `raster` tile rows they cover a
// squarer patch, whose rows of A and columns of B stay in L2:
//
//     raster = 1: 0 1 2 3      raster = 2: 0 2 4 6
//                 4 5 6 7                  1 3 5 7

namespace gemmtune {

struct TileCoordinates {
  int row;     // in tiles
  int column;  // in tiles
  int batch;
};

// A `raster` of 0 is that of 1. Blocks wait for this before they load anything, so no division is
// done whose result is known.
template <int kTileM, int kTileN>
GEMMTUNE_HOST_DEVICE constexpr TileCoordinates tile_coordinates(int m, int n, int block,
                                                                int raster = 1) {
  const int rows = (m + kTileM - 1) / kTileM;
  const int columns = (n + kTileN - 1) / kTileN;
  const int tiles = rows * columns;
  const int batch = block < tiles ? 0 : block / tiles;
  const int tile = block - batch * tiles;
  if (raster <= 1) {
    const int row = tile / columns;
    return {row, tile - row * columns, batch};
  }
  const int most = raster < rows ? raster : rows;
  const int group = tile / (most * columns);
  const int first = group * most;
  const int height = rows - first < most ? rows - first : most;
  const int inside = tile - first * columns;
  const int column = inside / height;
  return {first + inside - column * height, column, batch};
}

}  // namespace gemmtune
