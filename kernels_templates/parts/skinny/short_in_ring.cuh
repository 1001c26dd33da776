#pragma once

#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny/short_reads.cuh"
#include "parts/skinny/skinny_geometry.cuh"

// The short operand of skinny on its way through the ring, beside the long one: with each chunk a
// warp copies those values that its own lanes multiply. Nobody else reads them, so there is no
// barrier but the warp's, and they are as far ahead as the long operand is.
//
//     a warp's part of a slot    [short][kDepth]    where the short operand is contiguous along k
//                                [kDepth][short]    where it is contiguous along the short side

namespace gemmtune {

// cp_async_or_zero through L1: where lines are not aligned, neighbouring warps share sectors of
// them, which then come from L2 once.
template <int kBytes>
__device__ __forceinline__ void cp_async_or_zero_cached(float* to, const float* from, bool valid) {
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from),
               "n"(kBytes), "r"(valid ? kBytes : 0)
               : "memory");
}

template <TileConfig kTile, KernelTraits kTraits>
class ShortInRing {
  using G = SkinnyGeometry<kTile, kTraits>;
  static constexpr int kDepth = G::kLanesK * G::kUnroll;  // values of k of a warp in a chunk
  static constexpr int kRunDepth = G::kLanesK * G::kRun;  // those that are neighbours
  static constexpr int kLimit = G::kShortContiguousK ? kRunDepth : G::kShort;
  static constexpr int kWidth = G::kShortVector < kLimit ? G::kShortVector : kLimit;
  static constexpr int kVectors = G::kShort * kDepth / kWidth;
  static constexpr int kCopies = (kVectors + 31) / 32;  // of a lane
  static constexpr int kReadDepth = G::kRun < 4 ? G::kRun : 4;

 public:
  static constexpr int kSmemBytes = 0;
  static constexpr int kSlotFloats = short_stage_floats(G::kShape);
  static constexpr int kGroup = G::kShortContiguousK ? kReadDepth : 1;
  using Group = float[kGroup][G::kShort];

  __device__ __forceinline__ ShortInRing(float*, const float* base, long long ld, int start,
                                         int extent, int k_begin, int k_end)
      : step_(G::kShortContiguousK ? 1 : ld), k_(k_begin), k_end_(k_end) {
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      // Past the end the last row again: those results are never stored.
      const int row = min(start + row_of(c), extent - (G::kShortContiguousK ? 1 : kWidth));
      from_[c] =
          base + row * (G::kShortContiguousK ? ld : 1) + (k_begin + k_of(depth_of(c))) * step_;
    }
  }

  __device__ __forceinline__ void prepare(int) {}

  // Starts copying the warp's values of the next chunk, with zeros past the end of k.
  __device__ __forceinline__ void copy(float* slot) {
    float* own = slot + G::warp() * G::kShort * kDepth;
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      const int vector = c * 32 + lane();
      if (kVectors % 32 == 0 || vector < kVectors) {
        cp_async_or_zero_cached<kWidth * 4>(own + vector * kWidth, from_[c],
                                            k_ + k_of(depth_of(c)) < k_end_);
      }
      from_[c] += G::kChunk * step_;
    }
    k_ += G::kChunk;
  }

  // The copies of all lanes have landed in `slot`: read() reads there.
  __device__ __forceinline__ void turn_to(const float* slot) {
    reading_ = slot + G::warp() * G::kShort * kDepth;
  }

  __device__ __forceinline__ void read(Group& group, int, int u) const {
    const int at = (u / G::kRun * G::kLanesK + G::lane_k()) * G::kRun + u % G::kRun;
    if constexpr (G::kShortContiguousK) {
      read_rows_of_short<kDepth>(group, reading_, at);
    } else {
      read_rows_of_k(group, reading_, at);
    }
  }

 private:
  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }

  // Row and first depth of this lane's c-th vector, in the order in which they lie in a slot.
  static __device__ __forceinline__ int row_of(int c) {
    const int vector = c * 32 + lane();
    return G::kShortContiguousK ? vector / (kDepth / kWidth)
                                : vector % (G::kShort / kWidth) * kWidth;
  }
  static __device__ __forceinline__ int depth_of(int c) {
    const int vector = c * 32 + lane();
    return G::kShortContiguousK ? vector % (kDepth / kWidth) * kWidth
                                : vector / (G::kShort / kWidth);
  }
  // The value of k in a chunk that lies at `depth`: SkinnyGeometry::k_of for the lane that reads
  // it.
  static __device__ __forceinline__ int k_of(int depth) {
    return (depth / kRunDepth * G::kWorkers + G::warp() * G::kLanesK) * G::kRun + depth % kRunDepth;
  }

  long long step_;  // between neighbours along k
  int k_;           // of the next chunk
  int k_end_;
  const float* from_[kCopies];
  const float* reading_;
};

}  // namespace gemmtune
