#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/shared/whole_numbers.h"

// Stores rows of sums that lie in shared memory to a C whose rows begin anywhere, a warp at a time.
// What lies in whole 16 bytes of a row of C, its body, is stored as such; what lies before and
// behind them, the row's ends, by element. An odd leading dimension puts the bodies of neighbouring
// rows at different places:
//
//     row 0: | head | body       | body       | tail |      16-bit C: bodies of 8, and 8 elements
//     row 1:  | head  | body       | body       | tail|     of ends in a row, or none
//
// A warp takes 32 neighbouring elements of as many rows as a body has elements. With bodies at
// different places and rows that are 8 or 24 sums apart (modulo 32), the sums that it reads at a
// time lie in different banks.

namespace gemmtune {

// Of kColumns neighbouring columns and kRows rows, kStride sums apart.
template <int kColumns, int kStride, int kRows, ElementType kSum = kF32>
struct RowBodies {
  using Sum = typename StoredElement<kSum>::Type;

  // row_of(r) is the row of C that row r of the sums is; `column` is the column of C of the first
  // sum. `corrected` is given each sum and the row and column of C it is for.
  template <class Writer, class RowOf, class Corrected = AsSummed>
  static __device__ __forceinline__ void store(const Sum* sums, const Writer& writer, RowOf row_of,
                                               int column, Corrected corrected = {}) {
    constexpr int kBody = kBodyOf<Writer>;
    static_assert(kColumns % kBody == 0, "whole bodies where a row begins with one");
    constexpr int kAcross = power_of_two_in(kColumns / kBody, 32 / kBody);  // of a row at a time
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int width = min(kColumns, writer.args.n - column);
#pragma unroll 4
    for (int first = 0; first < kRows; first += 32 / kAcross) {
      const int r = first + lane / kAcross;
      const int m = row_of(r);
      if (r >= kRows || m >= writer.args.m) continue;
      const int head = head_of(writer, m, column);
#pragma unroll
      for (int i = 0; i < kColumns; i += kAcross * kBody) {
        const int at = head + i + lane % kAcross * kBody;
        if (at + kBody <= width)
          store_elements<kBody>(sums + r * kStride, writer, m, column, at, corrected);
      }
    }
#pragma unroll 4
    for (int first = 0; first < kRows; first += 32 / kBody) {
      const int r = first + lane / kBody;
      const int m = row_of(r);
      if (r >= kRows || m >= writer.args.m) continue;
      const int head = head_of(writer, m, column);
      const int tail = head + (width - head) / kBody * kBody;
      const int e = lane % kBody;
      const int at = e < head ? e : tail + e - head;
      if (at < width) store_elements<1>(sums + r * kStride, writer, m, column, at, corrected);
      // Where C ends, the tail may have more elements than the head leaves to it.
      const int more = tail + kBody - head + e;
      if (width < kColumns && more < width)
        store_elements<1>(sums + r * kStride, writer, m, column, more, corrected);
    }
  }

 private:
  // Elements of C in a body.
  template <class Writer>
  static constexpr int kBodyOf = 16 / static_cast<int>(sizeof(typename Writer::Element));

  // Elements from column n of row m on that lie before the first body.
  template <class Writer>
  static __device__ __forceinline__ int head_of(const Writer& writer, int m, int n) {
    const auto address = reinterpret_cast<unsigned long long>(writer.c + m * writer.args.ldc + n);
    const auto place = static_cast<int>(address / sizeof(typename Writer::Element));
    return -place & (kBodyOf<Writer> - 1);
  }

  // Elements at .. at + kCount - 1 of a row of sums.
  template <int kCount, class Writer, class Corrected>
  static __device__ __forceinline__ void store_elements(const Sum* line, const Writer& writer,
                                                        int m, int column, int at,
                                                        Corrected corrected) {
    const int n = column + at;
    FloatVector<kCount> part;
#pragma unroll
    for (int v = 0; v < kCount; ++v) part.v[v] = corrected(as_float(line[at + v]), m, n + v);
    writer.template store<kCount>(part, m, n, writer.template column_biases<1, kCount>(n));
  }

  static __device__ __forceinline__ float as_float(Sum sum) {
    if constexpr (kSum == kF16) return from_half<kF16>(sum);
    return sum;
  }
};

}  // namespace gemmtune
