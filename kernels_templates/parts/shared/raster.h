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
// done whose result is known. Divisions of unsigned Index take fewer instructions.
template <int kTileM, int kTileN, class Index = int>
GEMMTUNE_HOST_DEVICE constexpr TileCoordinates tile_coordinates(int m, int n, int block,
                                                                int raster = 1) {
  const Index rows = static_cast<Index>(m + kTileM - 1) / kTileM;
  const Index columns = static_cast<Index>(n + kTileN - 1) / kTileN;
  const Index tiles = rows * columns;
  const Index at = static_cast<Index>(block);
  const Index batch = at < tiles ? 0 : at / tiles;
  const Index tile = at - batch * tiles;
  const auto result = [&](Index row, Index column) {
    return TileCoordinates{static_cast<int>(row), static_cast<int>(column),
                           static_cast<int>(batch)};
  };
  if (raster <= 1) {
    const Index row = tile / columns;
    return result(row, tile - row * columns);
  }
  const Index group_rows = static_cast<Index>(raster);
  const Index most = group_rows < rows ? group_rows : rows;
  const Index group = tile / (most * columns);
  const Index first = group * most;
  const Index height = rows - first < most ? rows - first : most;
  const Index inside = tile - first * columns;
  const Index column = inside / height;
  return result(first + inside - column * height, column);
}

}  // namespace gemmtune
