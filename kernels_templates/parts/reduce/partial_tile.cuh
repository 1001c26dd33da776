#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"

// A block's tile of sums over a part of k, f32 whatever the main loop's accumulators are:
//
//     in shared memory    [tile_m][tile_n + kPadding] floats
//     in the workspace    slots of [tile_m][tile_n] floats
//
// It is read in vectors of kVector neighbouring columns, counted row by row.

namespace gemmtune {

// Line r of the i-th 16 lines of a tile is that row of it. (Tensor-core kernels may exchange rows:
// MmaRows.)
struct RowsInOrder {
  static __device__ __forceinline__ int row(int i, int r) { return i * 16 + r; }
};

template <TileConfig kTile, int kPadding, class Rows = RowsInOrder>
struct PartialTile {
  static constexpr int kVector = kPartialVector;
  static constexpr int kRowFloats = kTile.tile_n + kPadding;
  static constexpr int kFloats = kTile.tile_m * kRowFloats;
  static constexpr int kRowVectors = kTile.tile_n / kVector;
  static constexpr int kVectors = kTile.tile_m * kRowVectors;

  int row;  // of C that the tile begins at
  int column;

  static __device__ __forceinline__ PartialTile of(const GemmArgs&, const TileCoordinates& at) {
    return {at.row * kTile.tile_m, at.column * kTile.tile_n};
  }

  // Where vector v lies in shared memory.
  static __device__ __forceinline__ int offset(int v) {
    return v / kRowVectors * kRowFloats + v % kRowVectors * kVector;
  }
  // The row and the first column of C that it is for.
  __device__ __forceinline__ int m(int v) const {
    const int line = v / kRowVectors;
    return row + Rows::row(line / 16, line % 16);
  }
  __device__ __forceinline__ int n(int v) const { return column + v % kRowVectors * kVector; }
};

}  // namespace gemmtune
