#pragma once

// Where element (mn, k) of a tile of A or B lies in shared memory, in floats from the tile's start;
// mn is m for A and n for B. Rows are kStride floats long.
//
//     RowsOfK      [k][mn]   a row holds one value of k: what a step of the product reads are
//                            neighbours
//     RowsOfMn     [mn][k]   a row holds one mn: an operand that is contiguous along k arrives so,
//                            16 bytes a copy, and a thread reads four steps at once

namespace gemmtune {

template <int kStride>
struct RowsOfK {
  static __device__ __forceinline__ constexpr int offset(int mn, int k) { return k * kStride + mn; }
};

// Lanes read rows that lie a piece apart (simt_thread_tile.cuh). So that these are neighbours here,
// and with 4 floats of padding hit different banks, the rows of kLanes pieces are dealt out:
//
//     mn    0  1  2  3 | 4  5  6  7 | ..       row   0  1  2 ..           kLanes
//           lane 0     | lane 1     |          mn    0  4  8 .. (lane 0, 1, 2 ..) | 1  5  9 ..
//
// Offsets add up where the digits of two mn (block, lane, place in the piece) do not overlap.
template <int kStride, int kLanes>
struct RowsOfMn {
  static constexpr int kPiece = 4;
  static constexpr int kBlock = kLanes * kPiece;

  static __device__ __forceinline__ constexpr int offset(int mn, int k) {
    return (mn / kBlock * kBlock + mn % kPiece * kLanes + mn % kBlock / kPiece) * kStride + k;
  }
};

template <bool kOfMn, int kStride, int kLanes>
struct SharedRows {
  using Type = RowsOfK<kStride>;
};
template <int kStride, int kLanes>
struct SharedRows<true, kStride, kLanes> {
  using Type = RowsOfMn<kStride, kLanes>;
};

}  // namespace gemmtune
