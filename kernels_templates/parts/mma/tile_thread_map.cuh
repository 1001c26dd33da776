#pragma once

#include "parts/shared/mma_tiles.h"
#include "parts/shared/whole_numbers.h"

// How threads share out the kTileMn x kTileK tiles of A or B that they bring from
// global to shared memory, tile after tile along k, for the tensor cores.
//
// A shared tile has the operand's own storage order: a line of it is a row of the operand that is
// contiguous along k (kTileMn lines), or along mn (kTileK lines). Where a line lies in shared
// memory is told by Rows (swizzled_rows.cuh, padded_rows.cuh). An access is of kAccess elements;
// thread t makes those of column t % kAcross of the lines t / kAcross, + kLinesAtOnce, ...:
//
//     line 0                t0  t1  t2  t3  t4  t5  t6  t7
//     line 1                t8  t9  ...                      kAcross = 8
//     ...
//     line kLinesAtOnce     t0  t1  ...
//
// so its global addresses are one pointer stepped by kLinesAtOnce lines; Rows may put the lines of
// a warp in another order.

namespace gemmtune {

template <int kTileMn, int kTileK, int kThreads, int kAccess, bool kContiguousK, class Rows,
          int kGlobalBytes, int kSharedBytes>
class TileThreadMap {
 protected:
  static constexpr int kLines = kContiguousK ? kTileMn : kTileK;
  static constexpr int kLine = kContiguousK ? kTileK : kTileMn;  // elements
  static constexpr int kChunk = kChunkBytes / kSharedBytes;      // elements
  static constexpr LineCopies kCopies{kThreads, kLines, kLine / kAccess};
  static_assert(kCopies.even(kThreads, kAccess, kChunk, Rows::kPeriod),
                "threads divide the accesses of a tile");
  static constexpr int kAcross = kCopies.across;
  static constexpr int kLinesAtOnce = kCopies.lines_at_once;
  static constexpr int kStep = kAcross * kAccess;           // elements
  static constexpr int kColumns = kCopies.columns;          // accesses of a thread in a line
  static constexpr int kLineSteps = kLines / kLinesAtOnce;  // lines of a thread
  // Lines whose offsets in the shared tile are no constants apart.
  static constexpr int kPhases = Rows::kPhase / power_of_two_in(kLinesAtOnce, Rows::kPhase);
  static constexpr int kOffsets = kPhases < kLineSteps ? kPhases : kLineSteps;

  // `base` is the operand's first element of the k range; `start` the tile's first mn; `extent` the
  // operand's mn; `thread` the calling thread's place among kThreads.
  __device__ __forceinline__ TileThreadMap(const char* base, long long ld, int start, int extent,
                                           int thread)
      : line_step_(ld * (kLinesAtOnce * kGlobalBytes)), mn_left_(extent - start) {
    line_ = thread / kAcross;
    if constexpr (kLinesAtOnce % 8 == 0) line_ = Rows::template filled<kStep * kSharedBytes>(line_);
    element_ = thread % kAcross * kAccess;
    from_ =
        base + (kContiguousK ? (start + line_) * ld + element_ : line_ * ld + start + element_) *
                   kGlobalBytes;
    rewind_ = kContiguousK ? kTileK * kGlobalBytes - kLineSteps * line_step_ : 0;
#pragma unroll
    for (int p = 0; p < kOffsets; ++p) {
      offsets_[p] = Rows::offset(line_ + p * kLinesAtOnce, element_ / kChunk) +
                    element_ % kChunk * kSharedBytes;
    }
  }

  // Whether element v of access j of the thread's i-th line exists; `k_left` values of k do.
  __device__ __forceinline__ bool exists(int i, int j, int v, int k_left) const {
    const int line = line_ + i * kLinesAtOnce;
    const int line_end = kContiguousK ? mn_left_ : k_left;
    const int element_end = kContiguousK ? k_left : mn_left_;
    return line < line_end && element_ + j * kStep + v < element_end;
  }

  // Access j of the line that the thread has come to.
  __device__ __forceinline__ const char* from(int j) const {
    return from_ + j * (kStep * kGlobalBytes);
  }
  __device__ __forceinline__ void next_line() {
    from_ += line_step_;
  }
  // Behind a tile's last line: on to the next tile's first.
  __device__ __forceinline__ void next_tile() {
    from_ += rewind_;
  }

  // Where access j of the thread's i-th line goes in the shared tile, in bytes.
  __device__ __forceinline__ int offset_of(int i, int j) const {
    return offsets_[i % kOffsets] + i / kOffsets * (kOffsets * kLinesAtOnce * Rows::kRowBytes) +
           j * (kStep * kSharedBytes);
  }

 private:
  const char* from_;     // the thread's next line
  long long line_step_;  // bytes from a line to the thread's next
  long long rewind_;     // bytes from behind a tile's last line to the next tile's first
  int mn_left_;          // from the tile's first mn to the operand's end
  int line_;             // the thread's first line and element in a tile
  int element_;
  int offsets_[kOffsets];
};

}  // namespace gemmtune
