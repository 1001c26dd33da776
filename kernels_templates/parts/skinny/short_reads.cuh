#pragma once

#include "parts/ptx/vector_access.cuh"

// How a thread reads the short operand from shared memory: kGroup values of k of all kShort rows.

namespace gemmtune {

// At `at` of slabs [short][kStride], neighbours along k in one read.
template <int kStride, int kGroup, int kShort>
__device__ __forceinline__ void read_rows_of_short(float (&group)[kGroup][kShort],
                                                   const float* slab, int at) {
#pragma unroll
  for (int r = 0; r < kShort; ++r) {
    const auto x = load_vector<kGroup>(slab + r * kStride + at);
#pragma unroll
    for (int v = 0; v < kGroup; ++v) group[v][r] = x.v[v];
  }
}

// At `at` of slabs [k][short], up to four rows in one read.
template <int kShort>
__device__ __forceinline__ void read_rows_of_k(float (&group)[1][kShort], const float* slab,
                                               int at) {
  constexpr int kRows = kShort < 4 ? kShort : 4;
#pragma unroll
  for (int r = 0; r < kShort; r += kRows) {
    const auto x = load_vector<kRows>(slab + at * kShort + r);
#pragma unroll
    for (int v = 0; v < kRows; ++v) group[0][r + v] = x.v[v];
  }
}

}  // namespace gemmtune
