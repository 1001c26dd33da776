#pragma once

#include "parts/async_tile_loader.cuh"
#include "parts/gemm_args.h"
#include "parts/kernel_traits.h"
#include "parts/raster.cuh"
#include "parts/simt_thread_tile.cuh"
#include "parts/thread_group.cuh"
#include "parts/tile_config.h"

// The main loop of the cp.async pipelines: adds the product of a range of k tiles to a thread tile.
//
// Shared memory, kTile.stages times (buffer t % stages holds the t-th k tile of the range):
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

// `Group` are the threads that do it (thread_group.cuh).
template <TileConfig kTile, KernelTraits kTraits,
          class Group = ThreadGroup<warp_tile_threads(kTile)>>
struct MultistageMainloop {
  using Tile = ThreadTile<kTile>;

  static constexpr int kStages = kTile.stages;
  static constexpr int kThreads = Group::kThreads;
  static constexpr int kStrideA = kTile.tile_m + (kTraits.a_row_major ? 4 : 0);
  static constexpr int kStrideB = kTile.tile_n + (kTraits.b_row_major ? 0 : 4);
  static constexpr int kBufferA = kTile.tile_k * kStrideA;  // floats
  static constexpr int kBuffer = kBufferA + kTile.tile_k * kStrideB;
  static constexpr int kFloats = kStages * kBuffer;
  static constexpr int kSmemBytes = kFloats * 4;

  using LoaderA = AsyncTileLoader<kTile.tile_m, kTile.tile_k, Group, kTraits.vector_a,
                                  kTraits.a_row_major, kStrideA>;
  using LoaderB = AsyncTileLoader<kTile.tile_n, kTile.tile_k, Group, kTraits.vector_b,
                                  !kTraits.b_row_major, kStrideB>;

  // The group's tile is at (row, column) of C, in elements; the range is [k_begin, k_end), k_begin
  // a multiple of tile_k, and not empty. On return copies are finished, but other threads may still
  // read shared memory.
  static __device__ __forceinline__ void run(Tile& tile, float* smem, const GemmArgs& args,
                                             int batch, int row, int column, int k_begin,
                                             int k_end) {
    const float* a = static_cast<const float*>(args.a) + batch * args.stride_a +
                     (kTraits.a_row_major ? k_begin : k_begin * args.lda);
    const float* b = static_cast<const float*>(args.b) + batch * args.stride_b +
                     (kTraits.b_row_major ? k_begin * args.ldb : k_begin);
    LoaderA load_a(a, args.lda, row, args.m);
    LoaderB load_b(b, args.ldb, column, args.n);

    const int tiles_k = (k_end - k_begin + kTile.tile_k - 1) / kTile.tile_k;
    const int first_depth = k_end - k_begin - (tiles_k - 1) * kTile.tile_k;
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

    float* reading = smem;
    float* writing = smem + (kStages - 1) * kBuffer;
    for (int t = 0; t < tiles_k; ++t) {
      cp_async_wait<kStages - 2>();
      Group::sync();
      if (t + kStages - 1 < tiles_k) {
        load_a.copy_next(writing);
        load_b.copy_next(writing + kBufferA);
      }
      cp_async_commit();
      multiply_tile<kTile, kStrideA, kStrideB>(tile, reading, reading + kBufferA);
      writing = reading;
      reading = reading == smem + (kStages - 1) * kBuffer ? smem : reading + kBuffer;
    }
  }
};

}  // namespace gemmtune
