#pragma once

#include "parts/shared/mma_tiles.h"

// Rows of 16-bit elements in shared memory with 16 bytes of padding: a row begins four banks (or
// twelve, or twenty, ...) after the last, so that any 16 bytes of 8 neighbouring rows lie in 8
// different groups of four banks, as in swizzled_rows.cuh, while a row stays a plain row, which is
// what wmma.load reads.
//
//     banks      0-3  4-7  8-11 12-15 16-19 20-23 24-27 28-31     rows of 24 + 8 elements
//     row 0       0    1    2    pad
//     row 1                            0     1     2     pad
//     row 2       ...
//
// Sixteen-byte stores go through the banks eight lanes at a time. Where those eight lanes fill g =
// 2 or 4 short rows, neighbouring rows would meet in their banks; rows 8 / g apart do not, because
// 8 / g odd multiples of 16 bytes are an odd multiple of 128 / g.

namespace gemmtune {

template <int kRowChunks>
struct PaddedRows {
  static_assert(kRowChunks % 2 == 0, "with the padding a row is an odd number of 16-byte chunks");
  static constexpr int kRowBytes = padded_line_bytes(kRowChunks * 8);
  static constexpr int kPeriod = 1;  // chunks keep their distance,
  static constexpr int kPhase = 1;   // and so do rows

  static __device__ __forceinline__ int offset(int row, int chunk) {
    return row * kRowBytes + chunk * 16;
  }

  // The row that is filled as number `row`, where eight lanes fill kBytes of each.
  template <int kBytes>
  static __device__ __forceinline__ int filled(int row) {
    constexpr int kAtOnce = kBytes < 128 ? 128 / kBytes : 1;
    static_assert(kAtOnce <= 8, "eight rows take turns");
    return row / 8 * 8 + row % kAtOnce * (8 / kAtOnce) + row % 8 / kAtOnce;
  }
};

}  // namespace gemmtune
