#pragma once

#include "parts/gemm_args.h"
#include "parts/half_access.cuh"
#include "parts/mma.cuh"
#include "parts/simt_epilogue.cuh"

// Stores a warp's sums: C = alpha * sums + beta * C, rounded once, to the element type. C is read
// only when beta is not 0 (it may hold NaN otherwise), and nothing outside the m x n matrix is
// touched.
//
// The lanes of a warp hold pairs of neighbouring columns of 8 rows at a time. Sixteen rows go
// through shared memory, which each warp has a slab of for itself, so that they leave it as
// accesses of kVector elements side by side: 128 neighbouring bytes a row with a warp tile of 64
// columns.
//
//     slab: 16 rows of kWarpN + 8 floats; the padding puts the pairs that 16 lanes store at a time
//     into 32 different banks
//
// Rows of the sums may be exchanged (MmaRows); they leave in their own order.

namespace gemmtune {

template <int kWarpN>
struct MmaSlab {
  static constexpr int kStride = kWarpN + 8;  // floats
  static constexpr int kBytes = 16 * kStride * 4;
};

// As it lies in memory.
template <ElementType kType>
struct StoredElement {
  using Type = unsigned short;
};
template <>
struct StoredElement<kF32> {
  using Type = float;
};

// The sums are what they are.
struct AsSummed {
  __device__ __forceinline__ float operator()(float sum, int, int) const { return sum; }
};

template <ElementType kType, int kVector, int kWarpM, int kWarpN, class Rows>
struct MmaEpilogue {
  static constexpr int kRowTiles = kWarpM / 16;
  static constexpr int kColumnTiles = kWarpN / 8;
  using Element = typename StoredElement<kType>::Type;
  static constexpr int kStride = MmaSlab<kWarpN>::kStride;
  static constexpr int kRowAccesses = kWarpN / kVector;
  static constexpr int kAccesses = 16 * kRowAccesses / 32;  // of a lane
  static_assert(16 * kRowAccesses % 32 == 0, "lanes divide the accesses of 16 rows");

  // `c` is the batch entry's first element; row and column are where the warp's tile starts in C;
  // `slab` is the warp's own. `corrected` is given each sum and the row and column of C it is for.
  template <class Sums, class Corrected = AsSummed>
  static __device__ __forceinline__ void store(const Sums& sums, float* slab, Element* c,
                                               const GemmArgs& args, int row, int column,
                                               Corrected corrected = {}) {
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      fill(sums[i], slab);
      __syncwarp();
      drain(slab, c, args, i, row, column, corrected);
      __syncwarp();
    }
  }

 private:
  template <class RowOfSums>
  static __device__ __forceinline__ void fill(const RowOfSums& sums, float* slab) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* to = slab + lane / 4 * kStride + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        store_vector<2>(to + half * 8 * kStride + j * 8,
                        {sums[j].get(half, 0), sums[j].get(half, 1)});
      }
    }
  }

  template <class Corrected>
  static __device__ __forceinline__ void drain(const float* slab, Element* c, const GemmArgs& args,
                                               int row_tile, int row, int column,
                                               Corrected corrected) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Narrow accesses are many; all of them unrolled would be most of the kernel's code.
    constexpr int kUnroll = kAccesses < 8 ? kAccesses : 8;
#pragma unroll kUnroll
    for (int i = 0; i < kAccesses; ++i) {
      const int access = i * 32 + lane;
      const int slab_row = access / kRowAccesses;
      const int slab_column = access % kRowAccesses * kVector;
      const int m = row + Rows::row(row_tile, slab_row);
      const int n = column + slab_column;
      if (m < args.m && n < args.n) {
        auto sums = load_sums(slab + slab_row * kStride + slab_column);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums.v[v] = corrected(sums.v[v], m, n + v);
        store_access(sums, c + m * args.ldc + n, args);
      }
    }
  }

  static __device__ __forceinline__ FloatVector<kVector> load_sums(const float* from) {
    constexpr int kWidth = kVector < 4 ? kVector : 4;
    FloatVector<kVector> out;
#pragma unroll
    for (int v = 0; v < kVector; v += kWidth) {
      const auto piece = load_vector<kWidth>(from + v);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) out.v[v + i] = piece.v[i];
    }
    return out;
  }

  static __device__ __forceinline__ float result(float sum, float old, const GemmArgs& args) {
    return args.beta != 0.0f ? fmaf(args.beta, old, args.alpha * sum) : args.alpha * sum;
  }

  static __device__ __forceinline__ void store_access(const FloatVector<kVector>& sums, Element* c,
                                                      const GemmArgs& args) {
    if constexpr (kType == kF32) {
      store_vector_of_c(c, sums, args.alpha, args.beta);
    } else if constexpr (kVector == 1) {
      const float old = args.beta != 0.0f ? from_half<kType>(*c) : 0.0f;
      *c = to_half<kType>(result(sums.v[0], old, args));
    } else {
      HalfVector<kVector> out = {};
      if (args.beta != 0.0f) out = load_halves<kVector>(c);
#pragma unroll
      for (int v = 0; v < kVector; v += 2) {
        const float first = result(sums.v[v], from_half<kType>(out.get(v)), args);
        const float second = result(sums.v[v + 1], from_half<kType>(out.get(v + 1)), args);
        out.words[v / 2] = to_half_pair<kType>(first, second);
      }
      store_halves(c, out);
    }
  }
};

}  // namespace gemmtune
