#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/guarded_gemm.cuh"

// thread_tile_2d: fp32 GEMM in which a thread computes thread_m x thread_n neighbouring results.
//
//     block tile tile_m x tile_n          thread t
//     +--------+--------+---              row    = t / (tile_n / thread_n) * thread_m
//     | t0     | t1     | ..              column = t % (tile_n / thread_n) * thread_n
//     | thread_m x      |
//     |      thread_n   |                 acc[i][j] += A[row + i][k] * B[k][column + j]
//     +--------+--------+---
//
// Tiles, barriers and shared memory as in smem_tile.cuh: A tile [tile_m][tile_k], B tile
// [tile_k][tile_n]. Both operands are named in shared memory by the innermost statement. Nothing
// forbids the compiler to keep them in registers over i and j, or to read neighbouring words (of A
// along k, of B along n) as one vector, and once the loops are unrolled it does both: that is why
// the published ladders find no gain in the next rung, register_cache, which only spells it out.
//
// Words loaded a multiply-add: 2 as written, 1 / thread_m + 1 / thread_n as compiled, from shared
// memory; 1 / tile_m + 1 / tile_n from global memory.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct ThreadTile2d {
  using Gemm = GuardedGemm<kTile, kTraits>;
  using Tile = typename Gemm::Tile;

  static constexpr int kThreads = Gemm::kThreads;
  static constexpr int kSmemBytes = Gemm::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    Gemm::template run<ThreadTile2d>(args);
  }

  static __device__ __forceinline__ void multiply(Tile& tile, const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < kTile.tile_k; ++k) {
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i) {
#pragma unroll
        for (int j = 0; j < Tile::kN; ++j) {
          tile.acc[i][j] = fmaf(a[(tile.row + i) * kTile.tile_k + k],
                                b[k * kTile.tile_n + tile.column + j], tile.acc[i][j]);
        }
      }
    }
  }
};

}  // namespace gemmtune
