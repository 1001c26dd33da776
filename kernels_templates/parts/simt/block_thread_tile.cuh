#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"

// A thread's share of a block tile where there are no warp tiles: thread_m x thread_n neighbouring
// results, the threads laid over the block tile row by row.
//
//     block tile                          thread 1's results
//     +----+----+----+--- tile_n          rows    row    .. row + thread_m - 1
//     | t0 | t1 | t2 |                    columns column .. column + thread_n - 1
//     +----+----+----+                        row    = thread / columns * thread_m
//     | tc | ..                               column = thread % columns * thread_n
//     +----+     c = columns = tile_n / thread_n

namespace gemmtune {

template <TileConfig kTile>
struct BlockThreadTile {
  static constexpr int kM = thread_side(kTile.thread_m);
  static constexpr int kN = thread_side(kTile.thread_n);
  static constexpr int kColumns = kTile.tile_n / kN;  // threads side by side
  static constexpr int kThreads = block_tile_threads(kTile);
  static_assert(kTile.tile_m % kM == 0 && kTile.tile_n % kN == 0,
                "a block tile is whole thread tiles");

  float acc[kM][kN];
  int row;     // of acc[0][0] in the block tile
  int column;  // of acc[0][0] in the block tile

  __device__ __forceinline__ BlockThreadTile() {
    row = static_cast<int>(threadIdx.x) / kColumns * kM;
    column = static_cast<int>(threadIdx.x) % kColumns * kN;
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j) acc[i][j] = 0.0f;
    }
  }

  // acc += a * b^T, an outer product of fragments that are staged in registers.
  __device__ __forceinline__ void multiply(const float (&a)[kM], const float (&b)[kN]) {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
  }

  // Stores the elements that exist in accesses of kVector columns; the block tile starts at
  // (block_row, block_column) of C, `writer` is a ResultWriter.
  template <int kVector, class Writer>
  __device__ __forceinline__ void store(const Writer& writer, int block_row,
                                        int block_column) const {
#pragma unroll
    for (int i = 0; i < kM; ++i) {
      const int m = block_row + row + i;
      if (m >= writer.args.m) continue;
#pragma unroll
      for (int j = 0; j < kN; j += kVector) {
        const int n = block_column + column + j;
        if (n >= writer.args.n) continue;
        FloatVector<kVector> products;
#pragma unroll
        for (int v = 0; v < kVector; ++v) products.v[v] = acc[i][j + v];
        writer.template store<kVector>(products, m, n);
      }
    }
  }
};

}  // namespace gemmtune
