#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/epilogue/row_bodies.cuh"
#include "parts/shared/whole_numbers.h"

// The second half of a tensor-core epilogue: kRows rows of a warp's sums, left in a slab of shared
// memory that is the warp's own, become rows of C (result_writer.cuh).
//
//     slab: kRows rows of kWarpN sums, kStride apart      C: accesses of kVector elements side by
//     side,
//     +------------------+--+                          128 neighbouring bytes a row with a warp
//     | sums             |  |   -->  lanes 0 1 2 ..    tile of 64 columns of 16 bits
//     +------------------+--+
//
// Where only single elements of C are aligned, rows are stored in bodies (row_bodies.cuh).

namespace gemmtune {

template <int kVector, int kWarpN, int kStride, int kRows = 16, ElementType kSum = kF32>
struct SlabDrain {
  using Sum = typename StoredElement<kSum>::Type;
  static constexpr int kRowAccesses = kWarpN / kVector;
  static constexpr int kAccesses = (kRows * kRowAccesses + 31) / 32;  // of a lane
  static constexpr bool kEven = kRows * kRowAccesses % 32 == 0;
  static constexpr bool kInBodies = kVector == 1 && kWarpN >= 32;

  // The places in a row that a lane's accesses are at, which repeat: their bias is loaded once for
  // all rows.
  static constexpr int kPlaces = kRowAccesses / power_of_two_in(kRowAccesses, 32);
  template <class Writer>
  struct Bias {
    typename Writer::template BiasVector<kVector> at[kPlaces];
  };

  // What run() needs of the lane's columns; `column` is the column of C of the slab's first sum.
  template <class Writer>
  static __device__ __forceinline__ Bias<Writer> bias(const Writer& writer, int column) {
    Bias<Writer> out = {};
    if constexpr (kInBodies) return out;
#pragma unroll
    for (int i = 0; i < kPlaces; ++i) {
      const int n = column + slab_column(i);
      if (n < writer.args.n) out.at[i] = writer.template column_bias<kVector>(n);
    }
    return out;
  }

  // row_of(r) is the row of C that row r of the slab is; `corrected` is given each sum and the row
  // and column of C it is for.
  template <class Writer, class RowOf, class Corrected = AsSummed>
  static __device__ __forceinline__ void run(const Sum* slab, const Writer& writer, RowOf row_of,
                                             int column, const Bias<Writer>& bias,
                                             Corrected corrected = {}) {
    if constexpr (kInBodies) {
      RowBodies<kWarpN, kStride, kRows, kSum>::store(slab, writer, row_of, column, corrected);
    } else {
      run_aligned(slab, writer, row_of, column, bias, corrected);
    }
  }

  // Of the lane's i-th access.
  static __device__ __forceinline__ int slab_column(int i) {
    return (i * 32 + static_cast<int>(threadIdx.x) % 32) % kRowAccesses * kVector;
  }

  static __device__ __forceinline__ FloatVector<kVector> load_sums(const Sum* from) {
    if constexpr (kSum == kF16) {
      return load_elements<kF16, kVector>(from);
    } else {
      constexpr int kWidth = kVector < 4 ? kVector : 4;
      FloatVector<kVector> out;
#pragma unroll
      for (int v = 0; v < kVector; v += kWidth) {
        const auto part = load_vector<kWidth>(from + v);
#pragma unroll
        for (int i = 0; i < kWidth; ++i) out.v[v + i] = part.v[i];
      }
      return out;
    }
  }

 private:
  template <class Writer, class RowOf, class Corrected>
  static __device__ __forceinline__ void run_aligned(const Sum* slab, const Writer& writer,
                                                     RowOf row_of, int column,
                                                     const Bias<Writer>& bias,
                                                     Corrected corrected) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Narrow accesses are many; all of them unrolled would be most of the kernel's code.
    constexpr int kUnroll = kAccesses < 8 ? kAccesses : (8 + kPlaces - 1) / kPlaces * kPlaces;
#pragma unroll kUnroll
    for (int i = 0; i < kAccesses; ++i) {
      const int slab_row = (i * 32 + lane) / kRowAccesses;
      if (!kEven && slab_row >= kRows) continue;
      const int m = row_of(slab_row);
      const int n = column + slab_column(i);
      if (m < writer.args.m && n < writer.args.n) {
        auto sums = load_sums(slab + slab_row * kStride + slab_column(i));
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums.v[v] = corrected(sums.v[v], m, n + v);
        writer.template store<kVector>(sums, m, n, bias.at[i % kPlaces]);
      }
    }
  }
};

}  // namespace gemmtune
