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
  const unsigned rows = static_cast<unsigned>(m + kTileM - 1) / kTileM;
  const unsigned columns = static_cast<unsigned>(n + kTileN - 1) / kTileN;
  const unsigned tiles = rows * columns;
  const unsigned at = static_cast<unsigned>(block);
  const unsigned batch = at < tiles ? 0 : at / tiles;
  const unsigned tile = at - batch * tiles;
  const auto result = [&](unsigned row, unsigned column) {
    return TileCoordinates{static_cast<int>(row), static_cast<int>(column),
                           static_cast<int>(batch)};
  };
  if (raster <= 1) {
    const unsigned row = tile / columns;
    return result(row, tile - row * columns);
  }
  const unsigned most = static_cast<unsigned>(raster) < rows ? static_cast<unsigned>(raster) : rows;
  const unsigned group = tile / (most * columns);
  const unsigned first = group * most;
  const unsigned height = rows - first < most ? rows - first : most;
  const unsigned inside = tile - first * columns;
  const unsigned column = inside / height;
  return result(first + inside - column * height, column);
}

}  // namespace gemmtune
