#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"

// Stores a thread tile: C = alpha * acc + beta * C. C is read only when beta is not 0 (it may hold
// NaN otherwise), and nothing outside the m x n matrix is touched.

namespace gemmtune {

// 1, but the compiler cannot know. Accumulators that leave for a 16-byte store unchanged would have
// to lie in four neighbouring registers each, and the main loop's FFMAs would pay for that with
// register-bank conflicts; multiplied on their way out, they lie where the main loop wants them.
__device__ __forceinline__ float opaque_one(const GemmArgs& args) {
  return args.m > 0 ? 1.0f : 2.0f;
}

// *c = alpha * product + beta * *c.
template <int kVector>
__device__ __forceinline__ void store_vector_of_c(float* c, FloatVector<kVector> product,
                                                  float alpha, float beta) {
#pragma unroll
  for (int v = 0; v < kVector; ++v) product.v[v] *= alpha;
  if (beta != 0.0f) {
    const auto old = load_vector<kVector>(c);
#pragma unroll
    for (int v = 0; v < kVector; ++v) product.v[v] = fmaf(beta, old.v[v], product.v[v]);
  }
  store_vector(c, product);
}

// Stores four neighbouring columns from `column` on, of a row of C that exists, as far as they
// exist.
template <int kVector>
__device__ __forceinline__ void store_row(float* c_row, const FloatVector<4>& products,
                                          const GemmArgs& args, int column) {
#pragma unroll
  for (int j = 0; j < 4; j += kVector) {
    if (column + j >= args.n) continue;
    FloatVector<kVector> part;
#pragma unroll
    for (int v = 0; v < kVector; ++v) part.v[v] = products.v[j + v];
    store_vector_of_c(c_row + column + j, part, args.alpha, args.beta);
  }
}

// `c` is the batch entry's first element; row and column are where the block tile starts in C.
template <int kVector, class Tile>
__device__ __forceinline__ void store_thread_tile(const Tile& tile, float* c, const GemmArgs& args,
                                                  int row, int column) {
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i) {
    const int m = row + tile.row + Tile::row_offset(i);
    if (m >= args.m) continue;
#pragma unroll
    for (int j = 0; j < Tile::kN; j += 4) {
      const FloatVector<4> products{tile.acc[i][j], tile.acc[i][j + 1], tile.acc[i][j + 2],
                                    tile.acc[i][j + 3]};
      store_row<kVector>(c + m * args.ldc, products, args,
                         column + tile.column + Tile::column_offset(j));
    }
  }
}

}  // namespace gemmtune
