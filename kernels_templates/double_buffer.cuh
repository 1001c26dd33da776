#pragma once

#include "parts/gemm_args.h"
#include "parts/kernel_traits.h"
#include "parts/raster.cuh"
#include "parts/simt_epilogue.cuh"
#include "parts/simt_thread_tile.cuh"
#include "parts/tile_config.h"
#include "parts/tile_loader.cuh"

// double_buffer: fp32 GEMM on the SIMT units with two shared-memory buffers.
//
//     C: m x n             block tile                warp tile             thread tile
//     +----+----+--        tile_m x tile_n           warp_m x warp_n       thread_m x thread_n
//     |    |    |          (one thread block)        (32 thread tiles)     (4 x 4 pieces, spread)
//     +----+----+--        +-------+-------+         +--+--+--+--+
//     |    |    |    --->  | warp0 | warp1 |  --->   |  |  |  |  |  --->   acc[thread_m][thread_n]
//     +----+----+--        +-------+-------+         +--+--+--+--+
//     |    |    |          | warp2 | warp3 |         |  |  |  |  |
//                          +-------+-------+         +--+--+--+--+
//
// Shared memory, twice (buffer t % 2 holds k tile t):
//     A tile [tile_k][tile_m + pad]    B tile [tile_k][tile_n + pad]
// The operand that is contiguous along k is transposed on its way in and padded (tile_loader.cuh).
//
// Time, a k tile: global loads of tile t+1 into registers | outer products of tile t from shared
// memory | registers into the other buffer | one barrier. Two buffers make one barrier a tile
// enough: a buffer is written only after the barrier behind which nobody reads it any more.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct DoubleBuffer {
  using Tile = ThreadTile<kTile>;

  static constexpr int kThreads =
      32 * (kTile.tile_m / kTile.warp_m) * (kTile.tile_n / kTile.warp_n);
  static constexpr int kStrideA = kTile.tile_m + (kTraits.a_row_major ? 4 : 0);
  static constexpr int kStrideB = kTile.tile_n + (kTraits.b_row_major ? 0 : 4);
  static constexpr int kBufferA = kTile.tile_k * kStrideA;  // floats
  static constexpr int kBufferB = kTile.tile_k * kStrideB;
  static constexpr int kSmemBytes = 2 * (kBufferA + kBufferB) * 4;

  using LoaderA = TileLoader<kTile.tile_m, kTile.tile_k, kThreads, kTraits.vector_a,
                             kTraits.a_row_major, kStrideA>;
  using LoaderB = TileLoader<kTile.tile_n, kTile.tile_k, kThreads, kTraits.vector_b,
                             !kTraits.b_row_major, kStrideB>;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    float* const smem_a = smem;
    float* const smem_b = smem + 2 * kBufferA;

    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n, kTile.raster>(
        args.m, args.n, static_cast<int>(blockIdx.x));
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    LoaderA load_a(static_cast<const float*>(args.a) + at.batch * args.stride_a, args.lda, row,
                   args.m);
    LoaderB load_b(static_cast<const float*>(args.b) + at.batch * args.stride_b, args.ldb, column,
                   args.n);

    const int tiles_k = (args.k + kTile.tile_k - 1) / kTile.tile_k;
    const int first_depth = args.k - (tiles_k - 1) * kTile.tile_k;
    load_a.load_first(first_depth);
    load_b.load_first(first_depth);
    load_a.store(smem_a);
    load_b.store(smem_b);
    __syncthreads();

    Tile tile;
    int buffer = 0;
    for (int t = 1; t <= tiles_k; ++t) {
      const bool more = t < tiles_k;
      if (more) {
        load_a.load_next();
        load_b.load_next();
      }
      multiply_tile<kTile, kStrideA, kStrideB>(tile, smem_a + buffer * kBufferA,
                                               smem_b + buffer * kBufferB);
      buffer ^= 1;
      if (more) {
        load_a.store(smem_a + buffer * kBufferA);
        load_b.store(smem_b + buffer * kBufferB);
      }
      __syncthreads();
    }

    store_thread_tile<kTraits.vector_c>(
        tile, static_cast<float*>(args.c) + at.batch * args.stride_c, args, row, column);
  }
};

}  // namespace gemmtune
