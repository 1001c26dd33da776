#pragma once

#include "parts/gemm_args.h"
#include "parts/vector_access.cuh"

// Stores a thread tile: C = alpha * acc + beta * C. C is read only when beta is not 0 (it may hold NaN
// otherwise), and nothing outside the m x n matrix is touched.

namespace gemmtune {

// `c` is the batch entry's first element; row and column are where the block tile starts in C.
template <int kVector, class Tile>
__device__ __forceinline__ void store_thread_tile(const Tile& tile, float* c, const GemmArgs& args,
                                                  int row, int column) {
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i) {
    const int m = row + tile.row + Tile::row_offset(i);
    if (m >= args.m) continue;
    float* c_row = c + m * args.ldc;
#pragma unroll
    for (int j = 0; j < Tile::kN; j += kVector) {
      const int n = column + tile.column + Tile::column_offset(j);
      if (n >= args.n) continue;
      FloatVector<kVector> out;
#pragma unroll
      for (int v = 0; v < kVector; ++v) out.v[v] = args.alpha * tile.acc[i][j + v];
      if (args.beta != 0.0f) {
        const auto old = load_vector<kVector>(c_row + n);
#pragma unroll
        for (int v = 0; v < kVector; ++v) out.v[v] = fmaf(args.beta, old.v[v], out.v[v]);
      }
      store_vector(c_row + n, out);
    }
  }
}

}  // namespace gemmtune
