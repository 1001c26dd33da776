#pragma once

#include "parts/vector_access.cuh"

// What a thread reads of a pair of shared tiles, one step of k ahead of the product:
//
//     rows of k  (RowsOfK)      each step reads the next one's fragment
//     rows of mn (RowsOfMn)     a read brings four steps of one element; each step reads a quarter
//                               of what the four after next need
//
//     step            0     1     2     3     4  ..
//     rows of k       k=1   k=2   k=3   k=4   k=5
//     rows of mn      |- k=4..7, a quarter each -|

namespace gemmtune {

// One operand's fragment of kCount elements. `tile` is the shared tile, `first` where the thread's
// first element lies in it, and Offsets::of(i) is the i-th's place along mn from there.
template <int kCount, class Rows, class Offsets>
class RowsOfKFragment {
 public:
  // The first step of a tile.
  __device__ __forceinline__ void read_first(const float* tile, int first) { read(tile, first, 0); }

  // What is due at the step before `k`, k >= 1.
  __device__ __forceinline__ void read_ahead(const float* tile, int first, int k, int) {
    read(tile, first, k);
  }

  __device__ __forceinline__ float value(int i, int k) const { return values_[k % 2][i]; }

 private:
  __device__ __forceinline__ void read(const float* tile, int first, int k) {
    const float* row = tile + Rows::offset(0, k);
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const auto x = load_vector<4>(row + first + Offsets::of(i));
#pragma unroll
      for (int v = 0; v < 4; ++v) values_[k % 2][i + v] = x.v[v];
    }
  }

  float values_[2][kCount];
};

template <int kCount, class Rows, class Offsets>
class RowsOfMnFragment {
  static constexpr int kSteps = 4;
  static constexpr int kQuarter = kCount / kSteps;

 public:
  __device__ __forceinline__ void read_first(const float* tile, int first) {
#pragma unroll
    for (int quarter = 0; quarter < kSteps; ++quarter) read(tile, first, quarter, 0);
  }

  __device__ __forceinline__ void read_ahead(const float* tile, int first, int k, int tile_k) {
    const int next = (k + kSteps - 1) / kSteps * kSteps;  // the first step that is not read yet
    if (next < tile_k) read(tile, first, (k - 1) % kSteps, next);
  }

  __device__ __forceinline__ float value(int i, int k) const {
    return steps_[k / kSteps % 2][i].v[k % kSteps];
  }

 private:
  __device__ __forceinline__ void read(const float* tile, int first, int quarter, int k) {
#pragma unroll
    for (int q = 0; q < kQuarter; ++q) {
      const int i = quarter * kQuarter + q;
      steps_[k / kSteps % 2][i] =
          load_vector<kSteps>(tile + first + Rows::offset(Offsets::of(i), k));
    }
  }

  FloatVector<kSteps> steps_[2][kCount];
};

template <bool kOfMn, int kCount, class Rows, class Offsets>
struct OperandFragment {
  using Type = RowsOfKFragment<kCount, Rows, Offsets>;
};
template <int kCount, class Rows, class Offsets>
struct OperandFragment<true, kCount, Rows, Offsets> {
  using Type = RowsOfMnFragment<kCount, Rows, Offsets>;
};

}  // namespace gemmtune
