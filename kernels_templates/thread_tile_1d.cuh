#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/guarded_gemm.cuh"

// thread_tile_1d: fp32 GEMM in which a thread computes thread_m results, one below the other.
//
//     block tile tile_m x tile_n          thread t
//     +--------------------+              column = t % tile_n
//     | t0 t1 t2 ..        |              rows   = t / tile_n * thread_m + 0 .. thread_m - 1
//     | |  |  |            |
//     | v  v  v thread_m   |              acc[i] += A[row + i][k] * B[k][column]
//     +--------------------+                  one word of B for thread_m products
//     | tn ..              |
//
// Tiles, barriers and shared memory as in smem_tile.cuh: A tile [tile_m][tile_k], B tile
// [tile_k][tile_n]. A thread keeps its word of B in a register while it goes down the column.
//
// Words loaded a multiply-add: 1 + 1 / thread_m from shared memory, 1 / tile_m + 1 / tile_n from
// global.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct ThreadTile1d {
  using Gemm = GuardedGemm<kTile, kTraits>;
  using Tile = typename Gemm::Tile;

  static constexpr int kThreads = Gemm::kThreads;
  static constexpr int kSmemBytes = Gemm::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    Gemm::template run<ThreadTile1d>(args);
  }

  static __device__ __forceinline__ void multiply(Tile& tile, const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < kTile.tile_k; ++k) {
      const float of_b = b[k * kTile.tile_n + tile.column];
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i) {
        tile.acc[i][0] = fmaf(a[(tile.row + i) * kTile.tile_k + k], of_b, tile.acc[i][0]);
      }
    }
  }
};

}  // namespace gemmtune
