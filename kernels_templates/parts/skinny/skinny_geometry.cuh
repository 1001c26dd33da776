#pragma once

#include "parts/shared/kernel_traits.h"
#include "parts/shared/skinny_geometry.h"
#include "parts/shared/tile_config.h"

// The shape of gemv and skinny as constants of a kernel, and the place of the calling thread in it.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SkinnyGeometry {
  static constexpr SkinnyShape kShape{kTile, kTraits};
  static constexpr bool kShortRows = kShape.short_rows;
  static constexpr int kShort = kShape.short_side;
  static constexpr int kLong = kShape.long_side;
  static constexpr int kThreadLong = kShape.thread_long;
  static constexpr int kUnroll = kTile.unroll;
  static constexpr int kWarps = kTile.warps;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kLanesLong = kShape.lanes_long;
  static constexpr int kLanesK = kShape.lanes_k;
  static constexpr int kWorkers = kShape.workers;
  static constexpr int kChunk = kShape.chunk;  // values of k
  static_assert(kLanesLong * kLanesK == 32, "a warp is a grid of lanes");

  static constexpr bool kLongContiguousK = kShape.long_contiguous_k;
  static constexpr bool kShortContiguousK = kShape.short_contiguous_k;
  static constexpr int kShortVector = kShape.short_vector;
  static constexpr int kLongVector = kShape.long_vector;  // elements of one access
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
    constexpr int kAccess = kLongContiguousK ? 1 : kLongVector;
    return (o / kAccess * kLanesLong + lane_long()) * kAccess + o % kAccess;
  }
};

}  // namespace gemmtune
