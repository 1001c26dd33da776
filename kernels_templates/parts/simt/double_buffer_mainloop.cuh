#pragma once

#include "parts/ptx/thread_group.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/thread_tile.cuh"
#include "parts/simt/tile_loader.cuh"

// The main loop with two shared-memory buffers that are filled through registers: adds the product
// of a range of k tiles to a thread tile.
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
struct DoubleBufferMainloop {
  using Tile = ThreadTile<kTile>;

  static constexpr int kThreads = warp_tile_threads(kTile);
  static constexpr int kStrideA = row_floats_a(kTile, kTraits);
  static constexpr int kStrideB = row_floats_b(kTile, kTraits);
  static constexpr int kBufferA = kTile.tile_k * kStrideA;  // floats
  static constexpr int kBufferB = kTile.tile_k * kStrideB;
  static constexpr int kSmemBytes = 2 * buffer_floats(kTile, kTraits) * 4;

  using LoaderA = TileLoader<kTile.tile_m, kTile.tile_k, ThreadGroup<kThreads>, kTraits.vector_a,
                             kTraits.a_row_major, kStrideA>;
  using LoaderB = TileLoader<kTile.tile_n, kTile.tile_k, ThreadGroup<kThreads>, kTraits.vector_b,
                             !kTraits.b_row_major, kStrideB>;

  // The block's tile is at (row, column) of C, in elements; the range is [k_begin, k_end), k_begin
  // a multiple of tile_k, and not empty. On return nobody reads shared memory any more.
  static __device__ __forceinline__ void run(Tile& tile, float* smem, const GemmArgs& args,
                                             int batch, int row, int column, int k_begin,
                                             int k_end) {
    float* const smem_a = smem;
    float* const smem_b = smem + 2 * kBufferA;
    const float* a = static_cast<const float*>(args.a) + batch * args.stride_a +
                     (kTraits.a_row_major ? k_begin : k_begin * args.lda);
    const float* b = static_cast<const float*>(args.b) + batch * args.stride_b +
                     (kTraits.b_row_major ? k_begin * args.ldb : k_begin);
    LoaderA load_a(a, args.lda, row, args.m);
    LoaderB load_b(b, args.ldb, column, args.n);

    const int tiles_k = (k_end - k_begin + kTile.tile_k - 1) / kTile.tile_k;
    const int first_depth = k_end - k_begin - (tiles_k - 1) * kTile.tile_k;
    load_a.load_first(first_depth);
    load_b.load_first(first_depth);
    load_a.store(smem_a);
    load_b.store(smem_b);
    __syncthreads();

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
  }
};

}  // namespace gemmtune
