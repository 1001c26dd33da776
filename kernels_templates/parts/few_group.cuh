#pragma once

#include "parts/vector_access.cuh"

// How a thread reads the few operand from shared memory: kGroup values of k of all kFew rows.

namespace gemmtune {

// At `at` of slabs [few][kStride], neighbours along k in one read.
template <int kStride, int kGroup, int kFew>
__device__ __forceinline__ void read_rows_of_few(float (&group)[kGroup][kFew], const float* slab,
                                                 int at) {
#pragma unroll
  for (int r = 0; r < kFew; ++r) {
    const auto x = load_vector<kGroup>(slab + r * kStride + at);
#pragma unroll
    for (int v = 0; v < kGroup; ++v) group[v][r] = x.v[v];
  }
}

// At `at` of slabs [k][few], up to four rows in one read.
template <int kFew>
__device__ __forceinline__ void read_rows_of_k(float (&group)[1][kFew], const float* slab, int at) {
  constexpr int kRows = kFew < 4 ? kFew : 4;
#pragma unroll
  for (int r = 0; r < kFew; r += kRows) {
    const auto x = load_vector<kRows>(slab + at * kFew + r);
#pragma unroll
    for (int v = 0; v < kRows; ++v) group[0][r + v] = x.v[v];
  }
}

}  // namespace gemmtune
