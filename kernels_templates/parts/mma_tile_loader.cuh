#pragma once

#include "parts/half_access.cuh"
#include "parts/swizzled_rows.cuh"

// Brings kTileMn x kTileK tiles of A or B, 16-bit elements, from global to swizzled shared memory
// (swizzled_rows.cuh), tile after tile along k.
//
// A shared tile has the operand's own storage order: a line of it is a row of the operand that is
// contiguous along k (kTileMn lines), or along mn (kTileK lines). One access moves kVector
// elements: 16-, 8- or 4-byte cp.async where the operand's alignment allows 8, 4 or 2 elements. An
// operand of which nothing is known (kVector = 1) passes through registers, two loads and one store
// a pair.
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
template <int kTileMn, int kTileK, bool kContiguousK>
struct HalfTile {
  static constexpr int kLines = kContiguousK ? kTileMn : kTileK;
  static constexpr int kLine = kContiguousK ? kTileK : kTileMn;  // elements
  static constexpr int kBytes = kTileMn * kTileK * 2;
  using Rows = SwizzledRows<kLine / 8>;
};

template <int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK>
class HalfTileLoader {
  using Tile = HalfTile<kTileMn, kTileK, kContiguousK>;
  using Rows = typename Tile::Rows;
  static constexpr int kAccess = kVector > 1 ? kVector : 2;  // elements
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
  static_assert(kColumns == 1 || kAcross * kAccess % (8 * Rows::kPeriod) == 0,
                "columns of accesses are whole groups of swizzled chunks");

 public:
  // `base` is the operand's first element of the k range; `start` the tile's first mn; `extent` the
  // operand's mn.
  __device__ __forceinline__ HalfTileLoader(const unsigned short* base, long long ld, int start,
                                            int extent)
      : line_step_(ld * (kLinesAtOnce * 2)), mn_left_(extent - start) {
    const int thread = static_cast<int>(threadIdx.x);
    line_ = thread / kAcross;
    element_ = thread % kAcross * kAccess;
    const unsigned short* first = kContiguousK ? base + (start + line_) * ld + element_
                                               : base + line_ * ld + start + element_;
    from_ = reinterpret_cast<const char*>(first);
    rewind_ = kContiguousK ? kTileK * 2 - Tile::kLines / kLinesAtOnce * line_step_ : 0;
#pragma unroll
    for (int p = 0; p < kOffsets; ++p) {
      offsets_[p] = Rows::offset(line_ + p * kLinesAtOnce, element_ / 8) + element_ % 8 * 2;
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
      const char* from = from_ + j * (kStep * 2);
      const bool valid = line < line_end && element_ + j * kStep < element_end;
      if constexpr (kVector > 1) {
        copy_or_zero<kVector * 2>(to + j * (kStep * 2), from, valid);
      } else {
        const bool second = line < line_end && element_ + j * kStep + 1 < element_end;
        store_pair(to + j * (kStep * 2), reinterpret_cast<const unsigned short*>(from), valid,
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
