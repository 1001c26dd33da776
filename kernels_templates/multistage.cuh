#pragma once

#include "parts/async_tile_loader.cuh"
#include "parts/gemm_args.h"
#include "parts/kernel_traits.h"
#include "parts/raster.cuh"
#include "parts/simt_epilogue.cuh"
#include "parts/simt_thread_tile.cuh"
#include "parts/tile_config.h"

// multistage: fp32 GEMM on the SIMT units with a pipeline of `stages` shared-memory buffers filled by
// cp.async (sm_80 and up). Tiles as in double_buffer.cuh:
//
//     block tile tile_m x tile_n  >  warp tile warp_m x warp_n  >  thread tile thread_m x thread_n
//
// Shared memory, `stages` times (buffer t % stages holds k tile t):
//     A tile [tile_k][tile_m + pad]    B tile [tile_k][tile_n + pad]
// The operand that is contiguous along k is transposed by the copies themselves (4 bytes each).
//
// Time, with 3 stages; c = copy in flight, x = multiply:
//
//     tile 0   c c x
//     tile 1     c c x
//     tile 2       c c x
//              ------------> one barrier a tile
//
// At the top of iteration t the copies of tile t have landed (wait_group) and every thread is past
// iteration t - 1 (the barrier), so buffer (t - 1) % stages may be overwritten: that is where tile
// t + stages - 1 goes. No data passes through registers on its way to shared memory.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct Multistage {
  using Tile = ThreadTile<kTile>;

  static constexpr int kStages = kTile.stages;
  static constexpr int kThreads =
      32 * (kTile.tile_m / kTile.warp_m) * (kTile.tile_n / kTile.warp_n);
  static constexpr int kStrideA = kTile.tile_m + (kTraits.a_row_major ? 4 : 0);
  static constexpr int kStrideB = kTile.tile_n + (kTraits.b_row_major ? 0 : 4);
  static constexpr int kBufferA = kTile.tile_k * kStrideA;  // floats
  static constexpr int kBuffer = kBufferA + kTile.tile_k * kStrideB;
  static constexpr int kSmemBytes = kStages * kBuffer * 4;

  using LoaderA = AsyncTileLoader<kTile.tile_m, kTile.tile_k, kThreads, kTraits.vector_a,
                                  kTraits.a_row_major, kStrideA>;
  using LoaderB = AsyncTileLoader<kTile.tile_n, kTile.tile_k, kThreads, kTraits.vector_b,
                                  !kTraits.b_row_major, kStrideB>;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
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
    load_a.copy_first(smem, first_depth);
    load_b.copy_first(smem + kBufferA, first_depth);
    cp_async_commit();
#pragma unroll
    for (int s = 1; s < kStages - 1; ++s) {
      if (s < tiles_k) {
        load_a.copy_next(smem + s * kBuffer);
        load_b.copy_next(smem + s * kBuffer + kBufferA);
      }
      cp_async_commit();  // empty groups keep the count that wait_group relies on
    }

    Tile tile;
    float* reading = smem;
    float* writing = smem + (kStages - 1) * kBuffer;
    for (int t = 0; t < tiles_k; ++t) {
      cp_async_wait<kStages - 2>();
      __syncthreads();
      if (t + kStages - 1 < tiles_k) {
        load_a.copy_next(writing);
        load_b.copy_next(writing + kBufferA);
      }
      cp_async_commit();
      multiply_tile<kTile, kStrideA, kStrideB>(tile, reading, reading + kBufferA);
      writing = reading;
      reading = reading == smem + (kStages - 1) * kBuffer ? smem : reading + kBuffer;
    }

    store_thread_tile<kTraits.vector_c>(
        tile, static_cast<float*>(args.c) + at.batch * args.stride_c, args, row, column);
  }
};

}  // namespace gemmtune
