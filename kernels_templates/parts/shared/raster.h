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

template <int kTileM, int kTileN, int kRaster>
GEMMTUNE_HOST_DEVICE constexpr TileCoordinates tile_coordinates(int m, int n, int block) {
  const int rows = (m + kTileM - 1) / kTileM;
  const int columns = (n + kTileN - 1) / kTileN;
  const int tiles = rows * columns;
  const int batch = block / tiles;
  const int tile = block - batch * tiles;
  if constexpr (kRaster <= 1) {
    const int row = tile / columns;
    return {row, tile - row * columns, batch};
  } else {
    const int group = tile / (kRaster * columns);
    const int first = group * kRaster;
    const int height = rows - first < kRaster ? rows - first : kRaster;
    const int inside = tile - group * kRaster * columns;
    const int column = inside / height;
    return {first + inside - column * height, column, batch};
  }
}

}  // namespace gemmtune
