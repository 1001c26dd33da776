#pragma once

#include "parts/ptx/thread_group.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/tile_loader.cuh"

// The main loop of the kernels that copy in vectors to one shared-memory buffer.
//
//     A tile [tile_k][tile_m + pad]    B tile [tile_k][tile_n + pad], after the A tile
// The operand that is contiguous along k is transposed on its way in and padded (tile_loader.cuh).
//
// Time, a k tile: global loads into registers, registers into shared memory | barrier | multiply |
// barrier. Nothing overlaps inside a block. The k remainder is the first tile.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, int kThreads>
struct SingleBufferMainloop {
  static constexpr int kStrideA = row_floats_a(kTile, kTraits);
  static constexpr int kStrideB = row_floats_b(kTile, kTraits);
  static constexpr int kFloatsA = kTile.tile_k * kStrideA;
  static constexpr int kSmemBytes = buffer_floats(kTile, kTraits) * 4;

  using LoaderA = TileLoader<kTile.tile_m, kTile.tile_k, ThreadGroup<kThreads>,
                             access_width(kTile, kTraits.vector_a), kTraits.a_row_major, kStrideA>;
  using LoaderB = TileLoader<kTile.tile_n, kTile.tile_k, ThreadGroup<kThreads>,
                             access_width(kTile, kTraits.vector_b), !kTraits.b_row_major, kStrideB>;

  // Calls multiply(a, b) once for each pair of shared tiles; (row, column) is the block tile's
  // place in C.
  template <class Multiply>
  static __device__ __forceinline__ void run(const GemmArgs& args, int batch, int row, int column,
                                             const Multiply& multiply) {
    extern __shared__ __align__(16) float smem[];
    float* const a = smem;
    float* const b = smem + kFloatsA;
    LoaderA load_a(static_cast<const float*>(args.a) + batch * args.stride_a, args.lda, row,
                   args.m);
    LoaderB load_b(static_cast<const float*>(args.b) + batch * args.stride_b, args.ldb, column,
                   args.n);

    const int tiles_k = (args.k + kTile.tile_k - 1) / kTile.tile_k;
    const int first_depth = args.k - (tiles_k - 1) * kTile.tile_k;
    load_a.load_first(first_depth);
    load_b.load_first(first_depth);
    for (int t = 1;; ++t) {
      load_a.store(a);
      load_b.store(b);
      __syncthreads();  // the tiles are complete
      multiply(a, b);
      if (t == tiles_k) break;
      __syncthreads();  // nobody reads them any more
      load_a.load_next();
      load_b.load_next();
    }
  }
};

}  // namespace gemmtune
