#pragma once

#include "parts/ptx/vector_access.cuh"

// What a thread reads of a shared tile [k][mn], whose rows are kStride floats apart, one step of k
// ahead of the product: two fragments of kCount elements that take turns.

namespace gemmtune {

// `tile` is the shared tile, `first` where the thread's first element lies in a row, and
// Offsets::of(i) is the i-th's place from there.
template <int kCount, int kStride, class Offsets>
class TileFragments {
 public:
  __device__ __forceinline__ void read(const float* tile, int first, int k) {
    const float* row = tile + k * kStride;
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const auto x = load_vector<4>(row + first + Offsets::of(i));
#pragma unroll
      for (int v = 0; v < 4; ++v) values_[k % 2][i + v] = x.v[v];
    }
  }

  __device__ __forceinline__ float value(int i, int k) const {
    return values_[k % 2][i];
  }

 private:
  float values_[2][kCount];
};

}  // namespace gemmtune
