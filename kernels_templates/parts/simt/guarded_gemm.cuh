#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/block_thread_tile.cuh"

// The rungs of the ladder that differ only in how a thread multiplies a pair of shared tiles: one A
// tile and one B tile, each as the formula C[m][n] = sum of A[m][k] B[k][n] writes it:
//
//     a [tile_m][tile_k]      element (m, k) at m * tile_k + k
//     b [tile_k][tile_n]      element (k, n) at k * tile_n + n, after the A tile
//
// Time, a k tile: copy both tiles | barrier | multiply | barrier.
//
// Copying is the simplest there is: word by word, thread t takes elements t, t + threads, ... in
// the order in which the operand lies in global memory, so that neighbouring threads read
// neighbouring words. Every element is compared with the matrix's edges; what lies outside is 0.

namespace gemmtune {

// Fills a shared tile [kRows][kColumns] from the rows x columns matrix at `from`, beginning at
// (row, column).
template <int kRows, int kColumns, int kThreads, bool kRowMajor>
__device__ __forceinline__ void load_guarded(float* tile, const float* from, long long ld, int row,
                                             int column, int rows, int columns) {
#pragma unroll
  for (int first = 0; first < kRows * kColumns; first += kThreads) {
    const int i = first + static_cast<int>(threadIdx.x);
    if (kRows * kColumns % kThreads != 0 && i >= kRows * kColumns) break;
    const int r = kRowMajor ? i / kColumns : i % kRows;
    const int c = kRowMajor ? i % kColumns : i / kRows;
    const bool inside = row + r < rows && column + c < columns;
    const long long at = kRowMajor ? (row + r) * ld + column + c : (column + c) * ld + row + r;
    tile[r * kColumns + c] = inside ? from[at] : 0.0f;
  }
}

template <TileConfig kTile, KernelTraits kTraits>
struct GuardedGemm {
  using Tile = BlockThreadTile<kTile>;

  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kFloatsA = kTile.tile_m * kTile.tile_k;
  static constexpr int kSmemBytes = buffer_floats(kTile) * 4;

  // Product::multiply(tile, a, b) adds the product of two shared tiles to a thread tile.
  template <class Product>
  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    float* const a = smem;
    float* const b = smem + kFloatsA;

    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, static_cast<int>(blockIdx.x));
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    const float* from_a = static_cast<const float*>(args.a) + at.batch * args.stride_a;
    const float* from_b = static_cast<const float*>(args.b) + at.batch * args.stride_b;

    Tile tile;
    for (int k = 0; k < args.k; k += kTile.tile_k) {
      load_guarded<kTile.tile_m, kTile.tile_k, kThreads, kTraits.a_row_major>(
          a, from_a, args.lda, row, k, args.m, args.k);
      load_guarded<kTile.tile_k, kTile.tile_n, kThreads, kTraits.b_row_major>(
          b, from_b, args.ldb, k, column, args.k, args.n);
      __syncthreads();  // the tiles are complete
      Product::multiply(tile, a, b);
      __syncthreads();  // nobody reads them any more
    }
    tile.template store<1>(ResultWriter<kTraits.epilogue>::of(args, at.batch), row, column);
  }
};

}  // namespace gemmtune
