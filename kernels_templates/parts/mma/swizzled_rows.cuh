#pragma once

#include "parts/shared/mma_tiles.h"

// Rows of kRowChunks chunks of 16 bytes in shared memory, arranged so that the same chunk of 8
// neighbouring rows lies in 8 different groups of four banks: ldmatrix reads eight such chunks a
// phase. Chunk c of row r is stored at place c ^ mask(r):
//
//     8 chunks a row (64 halves)            4 chunks a row (32 halves), two rows a line of banks
//     row 0   0 1 2 3 4 5 6 7               rows 0, 1   0 1 2 3   0 1 2 3
//     row 1   1 0 3 2 5 4 7 6               rows 2, 3   1 0 3 2   1 0 3 2
//     row 2   2 3 0 1 6 7 4 5               rows 4, 5   2 3 0 1   2 3 0 1
//     ...     ...                           ...         ...
//
// Rows of 32-bit elements that are read as they lie, two chunks of four rows at a time
// (kFourRows), go by another mask, 2 * (r % 4):
//
//     row 0   0 1 2 3 4 5 6 7      row 1   2 3 0 1 6 7 4 5      row 2   4 5 6 7 0 1 2 3      ...
//
// Other row lengths exchange places only within groups of kPeriod chunks, the largest power of two
// (up to 8) that divides them; the row length does the rest.

namespace gemmtune {

template <int kRowChunks, bool kFourRows = false>
struct SwizzledRows {
  static constexpr int kRowBytes = kRowChunks * kChunkBytes;
  static constexpr int kPeriod = swizzle_period(kRowChunks);
  static constexpr int kPhase = 8;
  static_assert(!kFourRows || kPeriod == 8, "rows of whole lines of banks");

  // In bytes. Rows kPhase apart have equal masks, and chunks kPeriod apart keep their distance.
  static __device__ __forceinline__ int offset(int row, int chunk) {
    const int mask = kFourRows ? row % 4 * 2 : (row / (8 / kPeriod)) & (kPeriod - 1);
    return row * kRowBytes + (chunk ^ mask) * 16;
  }

  // The row that is filled as number `row`: neighbours fill whole lines of banks.
  template <int kBytes>
  static __device__ __forceinline__ int filled(int row) {
    return row;
  }
};

}  // namespace gemmtune
