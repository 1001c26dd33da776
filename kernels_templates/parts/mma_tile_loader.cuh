#pragma once

#include "parts/half_access.cuh"
#include "parts/swizzled_rows.cuh"

// Brings kTileMn x kTileK tiles of A or B, elements of 16 or 32 bits, from global to swizzled
// shared memory (swizzled_rows.cuh), tile after tile along k.
//
// A shared tile has the operand's own storage order: a line of it is a row of the operand that is
// contiguous along k (kTileMn lines), or along mn (kTileK lines). One access moves kVector
// elements by cp.async of 16, 8 or 4 bytes. A 16-bit operand of which nothing is known (kVector =
// 1) passes through registers, two loads and one store a pair.
//
// Thread t makes the accesses of column t % kAcross of the lines t / kAcross, + kLinesAtOnce, ...:
//
//     line 0                t0  t1  t2  t3  t4  t5  t6  t7
//     line 1                t8  t9  ...                      kAcross = 8
//     ...
//     line kLinesAtOnce     t0  t1  ...
//
// so its global addresses are one pointer stepped by kLinesAtOnce lines. What lies outside the
// operand is filled with zeros without being read (cp.async with a source size of 0).

namespace gemmtune {

template <int kBytes>
__device__ __forceinline__ void copy_or_zero(unsigned to, const void* from, bool valid) {
  const int bytes = valid ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
}

// One of the two tiles of a shared-memory buffer.
template <int kTileMn, int kTileK, bool kContiguousK, int kElementBytes>
struct MmaTile {
  static constexpr int kLines = kContiguousK ? kTileMn : kTileK;
  static constexpr int kLine = kContiguousK ? kTileK : kTileMn;  // elements
  using Rows = SwizzledRows<kLine * kElementBytes / 16, !kContiguousK && kElementBytes == 4>;
};

template <int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK, int kElementBytes>
class MmaTileLoader {
  using Tile = MmaTile<kTileMn, kTileK, kContiguousK, kElementBytes>;
  using Rows = typename Tile::Rows;
  static constexpr int kChunk = 16 / kElementBytes;                           // elements
  static constexpr int kAccess = kVector * kElementBytes >= 4 ? kVector : 2;  // elements
  static constexpr int kLineAccesses = Tile::kLine / kAccess;
  static constexpr int kAcross = power_of_two_in(kLineAccesses, power_of_two_in(kThreads, 1 << 10));
  static constexpr int kLinesAtOnce = kThreads / kAcross;
  static constexpr int kColumns = kLineAccesses / kAcross;        // accesses of a thread in a line
  static constexpr int kLineSteps = Tile::kLines / kLinesAtOnce;  // lines of a thread
  // Lines whose offsets in the swizzled tile are no constants apart.
  static constexpr int kPhases = 8 / power_of_two_in(kLinesAtOnce, 8);
  static constexpr int kOffsets = kPhases < kLineSteps ? kPhases : kLineSteps;
  static_assert(kThreads % kAcross == 0 && Tile::kLines % kLinesAtOnce == 0,
                "threads divide the lines of a tile");
  static_assert(kColumns == 1 || kAcross * kAccess % (kChunk * Rows::kPeriod) == 0,
                "columns of accesses are whole groups of swizzled chunks");

 public:
  // `base` is the operand's first element of the k range; `start` the tile's first mn; `extent` the
  // operand's mn.
  __device__ __forceinline__ MmaTileLoader(const char* base, long long ld, int start, int extent)
      : line_step_(ld * (kLinesAtOnce * kElementBytes)), mn_left_(extent - start) {
    const int thread = static_cast<int>(threadIdx.x);
    line_ = thread / kAcross;
    element_ = thread % kAcross * kAccess;
    from_ =
        base + (kContiguousK ? (start + line_) * ld + element_ : line_ * ld + start + element_) *
                   kElementBytes;
    rewind_ = kContiguousK ? kTileK * kElementBytes - Tile::kLines / kLinesAtOnce * line_step_ : 0;
#pragma unroll
    for (int p = 0; p < kOffsets; ++p) {
      offsets_[p] = Rows::offset(line_ + p * kLinesAtOnce, element_ / kChunk) +
                    element_ % kChunk * kElementBytes;
    }
  }

  // Starts copying part kPart of kParts of the next tile, of which the first `k_left` values of k
  // exist; parts are asked for in order.
  template <int kPart, int kParts>
  __device__ __forceinline__ void copy_part(unsigned tile, int k_left) {
    constexpr int kBegin = kLineSteps * kPart / kParts;
    constexpr int kEnd = kLineSteps * (kPart + 1) / kParts;
#pragma unroll
    for (int i = kBegin; i < kEnd; ++i) {
      copy_line(tile + offset_of(i), i, k_left);
      from_ += line_step_;
    }
    if constexpr (kPart == kParts - 1) from_ += rewind_;
  }

 private:
  __device__ __forceinline__ int offset_of(int i) const {
    return offsets_[i % kOffsets] + i / kOffsets * (kOffsets * kLinesAtOnce * Rows::kRowBytes);
  }

  __device__ __forceinline__ void copy_line(unsigned to, int i, int k_left) const {
    const int line = line_ + i * kLinesAtOnce;
    const int line_end = kContiguousK ? mn_left_ : k_left;
    const int element_end = kContiguousK ? k_left : mn_left_;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      constexpr int kStep = kAcross * kAccess;  // elements
      constexpr int kStepBytes = kStep * kElementBytes;
      const char* from = from_ + j * kStepBytes;
      const bool valid = line < line_end && element_ + j * kStep < element_end;
      if constexpr (kVector == kAccess) {
        copy_or_zero<kVector * kElementBytes>(to + j * kStepBytes, from, valid);
      } else {
        const bool second = line < line_end && element_ + j * kStep + 1 < element_end;
        store_pair(to + j * kStepBytes, reinterpret_cast<const unsigned short*>(from), valid,
                   second);
      }
    }
  }

  static __device__ __forceinline__ void store_pair(unsigned to, const unsigned short* from,
                                                    bool first, bool second) {
    const unsigned short low = first ? from[0] : static_cast<unsigned short>(0);
    const unsigned short high = second ? from[1] : static_cast<unsigned short>(0);
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(pack_halves(low, high)) : "memory");
  }

  const char* from_;     // the thread's next line
  long long line_step_;  // bytes from a line to the thread's next
  long long rewind_;     // bytes from behind a tile's last line to the next tile's first
  int mn_left_;          // from the tile's first mn to the operand's end
  int line_;             // the thread's first line and element in a tile
  int element_;
  int offsets_[kOffsets];
};

}  // namespace gemmtune
