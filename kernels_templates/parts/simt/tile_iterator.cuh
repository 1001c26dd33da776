#pragma once

#include "parts/ptx/thread_group.cuh"

// Where a thread finds its share of one kTileMn x kTileK tile of A or B in global memory, tile
// after tile along k.
//
// The operand is seen as an (mn, k) matrix: mn is m for A and n for B. A tile is copied in accesses
// of kWidth neighbouring elements along the operand's contiguous side, kInner of them a line and
// kOuter lines; thread t of the group makes accesses t, t + kThreads, ... in the order in which
// they lie in memory, as far as the tile has so many. Where kThreads and kInner divide each other,
// all its places in the tile differ from the first by constants, which fold into the addresses of
// the instructions. Pointers staged a thread, each worth two registers and two additions a tile:
//
//     contiguous along mn     one; the lines of k are stepped through by additions of the leading
//                             dimension
//     contiguous along k      one a line of mn
//     a tile of 96, say       one an access
//
// Edges of mn: past the end of an operand that is contiguous along mn an access is not `inside` and
// must not be made; along k its line is the operand's last one, read twice. Neither result is ever
// stored.

namespace gemmtune {

template <int kTileMn, int kTileK, class Group, int kWidth, bool kContiguousK>
class TileIterator {
  static constexpr int kThreads = Group::kThreads;
  static constexpr int kInner = (kContiguousK ? kTileK : kTileMn) / kWidth;
  static constexpr int kOuter = kContiguousK ? kTileMn : kTileK;
  static constexpr int kAccesses = kInner * kOuter;

 public:
  static constexpr int kCopies = (kAccesses + kThreads - 1) / kThreads;  // a thread, at most
  static constexpr bool kEven = kAccesses % kThreads == 0;
  // Whether the lines of a thread's accesses lie a power of two apart.
  static constexpr bool kPowersApart =
      kThreads % kInner == 0 && (kThreads / kInner & (kThreads / kInner - 1)) == 0;

  // Whether the calling thread has an i-th access; only the last may be missing.
  static __device__ __forceinline__ bool has(int i) {
    return kEven || i < kCopies - 1 || Group::thread() + i * kThreads < kAccesses;
  }

  // `base` is the operand's first element; `start` the tile's first mn; `extent` the operand's mn.
  __device__ __forceinline__ TileIterator(const float* base, long long ld, int start, int extent)
      : ld_(ld), left_(extent - start) {
    const int last = left_ - (kContiguousK ? 1 : kWidth);
#pragma unroll
    for (int i = 0; i < kPointers; ++i) {
      const int mn = kOnePointer ? mn_of(i) : min(mn_of(i), last);
      from_[i] = base + (kContiguousK ? (start + mn) * ld + k_of(i) : k_of(i) * ld + start + mn);
    }
  }

  // Calls f(i, address, inside) for each of the thread's accesses to the tile, has(i) or not.
  template <class F>
  __device__ __forceinline__ void visit(F f) const {
    if constexpr (kOnePointer) {
      const float* line = from_[0];
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
        f(i, line + i % kLineCopies * (kThreads * kWidth), mn_of(i) < left_);
        if (i % kLineCopies == kLineCopies - 1) line += kLineStep * ld_;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) f(i, from_[i], true);
    }
  }

  // The accesses of part `part` of `parts` of a whole tile: calls f(i, address, inside) for each.
  // When all parts have been visited, in order, the iterator has gone on to the next tile.
  template <class F>
  __device__ __forceinline__ void visit_part(int part, int parts, F f) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      if (i * parts / kCopies != part) continue;
      if constexpr (kOnePointer) {
        f(i, from_[0] + i % kLineCopies * (kThreads * kWidth), mn_of(i) < left_);
        if (i % kLineCopies == kLineCopies - 1) {
          from_[0] += (i == kCopies - 1 ? kLastLineStep : kLineStep) * ld_;
        }
      } else {
        f(i, from_[i], true);
        from_[i] += kContiguousK ? kTileK : kTileK * ld_;
      }
    }
  }

  // Goes on to the tile that begins `depth` values of k later.
  __device__ __forceinline__ void advance(int depth) {
#pragma unroll
    for (int i = 0; i < kPointers; ++i) from_[i] += kContiguousK ? depth : depth * ld_;
  }

  // The place of access i in the tile.
  static __device__ __forceinline__ int k_of(int i) {
    return kContiguousK ? inner_of(i) * kWidth : outer_of(i);
  }
  static __device__ __forceinline__ int mn_of(int i) {
    return kContiguousK ? outer_of(i) : inner_of(i) * kWidth;
  }

 private:
  static constexpr bool kRegular = kThreads % kInner == 0 || kInner % kThreads == 0;
  static constexpr bool kOnePointer = kRegular && !kContiguousK;
  static constexpr int kPointers = kOnePointer ? 1 : kCopies;
  static constexpr int kLineCopies = kInner > kThreads ? kInner / kThreads : 1;
  static constexpr int kLineStep = kInner > kThreads ? 1 : kThreads / kInner;
  static constexpr int kLastLineStep = kOuter - (kCopies / kLineCopies - 1) * kLineStep;

  static __device__ __forceinline__ int inner_of(int i) {
    const int thread = Group::thread();
    if constexpr (kRegular) return thread % kInner + i % kLineCopies * kThreads;
    return (thread + i * kThreads) % kInner;
  }
  static __device__ __forceinline__ int outer_of(int i) {
    const int thread = Group::thread();
    if constexpr (kRegular) return thread / kInner + i / kLineCopies * kLineStep;
    return (thread + i * kThreads) / kInner;
  }

  long long ld_;
  int left_;  // from the tile's first mn to the operand's end
  const float* from_[kPointers];
};

}  // namespace gemmtune
