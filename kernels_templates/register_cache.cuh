#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/guarded_gemm.cuh"

// register_cache: thread_tile_2d with the operands of one k in registers, multiplied as an outer
// product.
//
//     for each k of the tile:
//                        b[0] b[1] ..  (thread_n words of B[k][.])
//              a[0]   [ acc acc ..   ]
//              a[1]   [ acc acc ..   ]      thread_m + thread_n reads of shared memory
//              ..     [ ..           ]      for thread_m * thread_n multiply-adds
//          (thread_m words of A[.][k])
//
// Block and thread tiles, barriers and shared memory as in thread_tile_2d.cuh and smem_tile.cuh:
// A tile [tile_m][tile_k], B tile [tile_k][tile_n]. NVRTC 13 makes the same code of both.
//
// Words loaded a multiply-add: 1 / thread_m + 1 / thread_n from shared memory, 1 / tile_m + 1 /
// tile_n from global memory.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct RegisterCache {
  using Gemm = GuardedGemm<kTile, kTraits>;
  using Tile = typename Gemm::Tile;

  static constexpr int kThreads = Gemm::kThreads;
  static constexpr int kSmemBytes = Gemm::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    Gemm::template run<RegisterCache>(args);
  }

  static __device__ __forceinline__ void multiply(Tile& tile, const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < kTile.tile_k; ++k) {
      float fragment_a[Tile::kM];
      float fragment_b[Tile::kN];
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i) fragment_a[i] = a[(tile.row + i) * kTile.tile_k + k];
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j) fragment_b[j] = b[k * kTile.tile_n + tile.column + j];
      tile.multiply(fragment_a, fragment_b);
    }
  }
};

}  // namespace gemmtune
