#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/block_thread_tile.cuh"

// naive: fp32 GEMM with one thread an element and every operand read from global memory.
//
//     C: m x n                block of tile_m x tile_n threads
//     +----+----+--           +-----------------+
//     |    |    |             | t0 t1 t2 ..     |   row    = block row    + thread / tile_n
//     +----+----+--    --->   | ..              |   column = block column + thread % tile_n
//     |    |    |             |              tN |
//                             +-----------------+
//
//     C[row][column] = sum over k of A[row][k] * B[k][column]
//
// Neighbouring threads have neighbouring columns: with a row-major B a warp reads consecutive words
// of B, and one word of A for all. No shared memory, no barrier: what is reused is reused through
// L1 and L2.
//
// Words loaded a multiply-add: 2.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct Naive {
  using Tile = BlockThreadTile<kTile>;

  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kSmemBytes = 0;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, static_cast<int>(blockIdx.x));
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    Tile tile;
    const int m = row + tile.row;
    const int n = column + tile.column;
    if (m >= args.m || n >= args.n) return;

    const float* a = static_cast<const float*>(args.a) + at.batch * args.stride_a +
                     (kTraits.a_row_major ? m * args.lda : m);
    const float* b = static_cast<const float*>(args.b) + at.batch * args.stride_b +
                     (kTraits.b_row_major ? n : n * args.ldb);
    const long long step_a = kTraits.a_row_major ? 1 : args.lda;
    const long long step_b = kTraits.b_row_major ? args.ldb : 1;
    for (int k = 0; k < args.k; ++k) {
      tile.acc[0][0] = fmaf(*a, *b, tile.acc[0][0]);
      a += step_a;
      b += step_b;
    }
    tile.template store<1>(ResultWriter<kTraits.epilogue>::of(args, at.batch), row, column);
  }
};

}  // namespace gemmtune
