#pragma once

#include "parts/cp_async.cuh"

// Brings kTileMn x kTileK tiles of A or B from global to shared memory by cp.async, without passing
// through registers. Shared tiles are [k][mn] with row length kStride, as in tile_loader.cuh.
//
// An operand that is contiguous along mn is copied in vectors of kVector elements. One that is
// contiguous along k is transposed by 4-byte copies: each lands where it belongs. With tile_k = 8
// and 4 words of padding, the 8 k x 4 mn words of a warp's copy hit 32 different banks.
//
// Edges as in tile_loader.cuh: mn past the end is clamped (its results are never stored), k past
// the end is filled with zeros in the first tile, which holds the k remainder.

namespace gemmtune {

template <int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK, int kStride>
class AsyncTileLoader {
  static constexpr int kWidth = kContiguousK ? 1 : kVector;  // elements a copy
  static constexpr int kInner = (kContiguousK ? kTileK : kTileMn) / kWidth;
  static constexpr int kOuter = kContiguousK ? kTileMn : kTileK;
  static constexpr int kCopies = kInner * kOuter / kThreads;
  static_assert(kInner * kOuter % kThreads == 0, "threads divide the copies of a tile");

 public:
  // `base` is the operand's first element; `start` the tile's first mn; `extent` the operand's mn.
  __device__ __forceinline__ AsyncTileLoader(const float* base, long long ld, int start, int extent)
      : ld_(ld) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const int mn = min(start + mn_of(i), extent - kWidth);
      from_[i] = base + (kContiguousK ? mn * ld + k_of(i) : k_of(i) * ld + mn);
    }
  }

  // Starts copying the first tile, of which only the first `depth` (1..kTileK) values of k exist.
  __device__ __forceinline__ void copy_first(float* tile, int depth) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const bool valid = k_of(i) < depth;
      cp_async_or_zero<kWidth * 4>(place(tile, i), from_[i], valid);
      from_[i] += kContiguousK ? depth : depth * ld_;
    }
  }

  // Starts copying the next whole tile.
  __device__ __forceinline__ void copy_next(float* tile) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      cp_async<kWidth * 4>(place(tile, i), from_[i]);
      from_[i] += kContiguousK ? kTileK : kTileK * ld_;
    }
  }

 private:
  static __device__ __forceinline__ float* place(float* tile, int i) {
    return tile + k_of(i) * kStride + mn_of(i);
  }
  static __device__ __forceinline__ int inner_of(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) % kInner;
  }
  static __device__ __forceinline__ int outer_of(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) / kInner;
  }
  static __device__ __forceinline__ int k_of(int i) {
    return kContiguousK ? inner_of(i) : outer_of(i);
  }
  static __device__ __forceinline__ int mn_of(int i) {
    return kContiguousK ? outer_of(i) : inner_of(i) * kWidth;
  }

  long long ld_;
  const float* from_[kCopies];
};

}  // namespace gemmtune
