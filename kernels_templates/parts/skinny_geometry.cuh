#pragma once

#include "parts/kernel_traits.h"
#include "parts/tile_config.h"

// How a block is laid over a tile of C with few rows or few columns (gemv, skinny).
//
// The tile's smaller side is the *few* side, the other the *long* one; the operand that belongs to
// the long side is read once and makes up nearly all the traffic. tile_m <= tile_n: few rows of C,
// A is the few operand and B the long one; else few columns, and the other way round.
//
// Every warp of the block works on the whole tile, each on its own k. Within a warp lanes form a
// kLanesLong x kLanesK grid; a thread computes kFew x kThreadLong results over its k, which are
// added up at the end. A *worker* is one k-lane of one warp: the block has kWorkers of them, and a
// chunk of k is kUnroll values for each.
//
//     long operand contiguous along the long side      long operand contiguous along k
//
//     lane  0 1 2 3 ... (16 bytes each) -> long        lane  0 1 2 3 ... (16 bytes each) -> k
//     worker 0   k = 0 .. kUnroll-1                    long = 0, 1, .. kThreadLong-1, one row each
//     worker 1   k = kUnroll ..                        k = 4 * worker, then + 4 * kWorkers
//
// Neighbouring lanes read neighbouring vectors either way, and each word is read by one thread
// only: the long operand does not pass through shared memory.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SkinnyGeometry {
  static constexpr bool kFewRows = kTile.tile_m <= kTile.tile_n;
  static constexpr int kFew = kFewRows ? kTile.tile_m : kTile.tile_n;
  static constexpr int kLong = kFewRows ? kTile.tile_n : kTile.tile_m;
  static constexpr int kThreadLong = kFewRows ? kTile.thread_n : kTile.thread_m;
  static constexpr int kUnroll = kTile.unroll;
  static constexpr int kWarps = kTile.warps;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kLanesLong = kLong / kThreadLong;
  static constexpr int kLanesK = 32 / kLanesLong;
  static constexpr int kWorkers = kWarps * kLanesK;
  static constexpr int kChunk = kWorkers * kUnroll;  // values of k
  static_assert(kLanesLong * kLanesK == 32, "a warp is a grid of lanes");

  static constexpr bool kLongContiguousK = kFewRows ? !kTraits.b_row_major : kTraits.a_row_major;
  static constexpr bool kFewContiguousK = kFewRows ? kTraits.a_row_major : !kTraits.b_row_major;
  static constexpr int kLongAligned = kFewRows ? kTraits.vector_b : kTraits.vector_a;
  static constexpr int kFewVector = kFewRows ? kTraits.vector_a : kTraits.vector_b;
  // Elements of one access to the long operand.
  static constexpr int kLongLimit = kLongContiguousK ? kUnroll : kThreadLong;
  static constexpr int kLongVector = kLongAligned < kLongLimit ? kLongAligned : kLongLimit;
  // Values of a thread's k, in the order of u, that are neighbours.
  static constexpr int kRun = kLongContiguousK ? kLongVector : kUnroll;

  static __device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x) / 32; }
  static __device__ __forceinline__ int lane_long() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return kLongContiguousK ? lane / kLanesK : lane % kLanesLong;
  }
  static __device__ __forceinline__ int lane_k() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return kLongContiguousK ? lane % kLanesK : lane / kLanesLong;
  }
  // The u-th value of k of this thread in a chunk.
  static __device__ __forceinline__ int k_of(int u) {
    const int worker = warp() * kLanesK + lane_k();
    return (u / kRun * kWorkers + worker) * kRun + u % kRun;
  }
  // The place of this thread's o-th result along the long side of the tile.
  static __device__ __forceinline__ int long_of(int o) {
    constexpr int kPiece = kLongContiguousK ? 1 : kLongVector;
    return (o / kPiece * kLanesLong + lane_long()) * kPiece + o % kPiece;
  }
};

}  // namespace gemmtune
