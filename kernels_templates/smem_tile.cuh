#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/guarded_gemm.cuh"

// smem_tile: fp32 GEMM through shared memory, one thread an element of a square block tile.
//
//     A: m x k                  B: k x n               C: m x n
//       k ->                      +--+                   tile_n = tile_m
//     +----+----+----+          k |  | tile_k          +------+
//     |  > tiles walk |         | +--+                 |      |  one thread an element:
//     +----+----+----+          v |v |                 |      |  row    = thread / tile_n
//      tile_m x tile_k            +--+                 +------+  column = thread % tile_n
//
// For each k tile: all threads copy one tile of A and one of B (guarded_gemm.cuh) | barrier | each
// thread multiplies its row of A with its column of B, one k at a time | barrier.
//
// Shared memory: A tile [tile_m][tile_k], B tile [tile_k][tile_n]; a warp reads one word of A (a
// broadcast) and consecutive words of B.
//
// Words loaded a multiply-add: 2 from shared memory, 2 / tile_m from global memory.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SmemTile {
  using Gemm = GuardedGemm<kTile, kTraits>;
  using Tile = typename Gemm::Tile;

  static constexpr int kThreads = Gemm::kThreads;
  static constexpr int kSmemBytes = Gemm::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    Gemm::template run<SmemTile>(args);
  }

  static __device__ __forceinline__ void multiply(Tile& tile, const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < kTile.tile_k; ++k) {
      tile.acc[0][0] =
          fmaf(a[tile.row * kTile.tile_k + k], b[k * kTile.tile_n + tile.column], tile.acc[0][0]);
    }
  }
};

}  // namespace gemmtune
