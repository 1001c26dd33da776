#pragma once

#include "parts/few_group.cuh"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny_geometry.cuh"

// The few operand of skinny on its way through the ring, beside the long one: with each chunk a
// warp copies those values that its own lanes multiply. Nobody else reads them, so there is no
// barrier but the warp's, and they are as far ahead as the long operand is.
//
//     a warp's part of a slot    [few][kDepth]    where the few operand is contiguous along k
//                                [kDepth][few]    where it is contiguous along the few side

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
class FewInRing {
  using G = SkinnyGeometry<kTile, kTraits>;
  static constexpr int kDepth = G::kLanesK * G::kUnroll;  // values of k of a warp in a chunk
  static constexpr int kPiece = G::kLanesK * G::kRun;     // those that are neighbours
  static constexpr int kLimit = G::kFewContiguousK ? kPiece : G::kFew;
  static constexpr int kWidth = G::kFewVector < kLimit ? G::kFewVector : kLimit;
  static constexpr int kVectors = G::kFew * kDepth / kWidth;
  static constexpr int kCopies = (kVectors + 31) / 32;  // of a lane
  static constexpr int kReadDepth = G::kRun < 4 ? G::kRun : 4;

 public:
  static constexpr int kSmemBytes = 0;
  static constexpr int kSlotFloats = short_stage_floats(G::kShape);
  static constexpr int kGroup = G::kFewContiguousK ? kReadDepth : 1;
  using Group = float[kGroup][G::kFew];

  __device__ __forceinline__ FewInRing(float*, const float* base, long long ld, int start,
                                       int extent, int k_begin, int k_end)
      : step_(G::kFewContiguousK ? 1 : ld), k_(k_begin), k_end_(k_end) {
#pragma unroll
    for (int c = 0; c < kCopies; ++c) {
      // Past the end the last row again: those results are never stored.
      const int row = min(start + row_of(c), extent - (G::kFewContiguousK ? 1 : kWidth));
      from_[c] = base + row * (G::kFewContiguousK ? ld : 1) + (k_begin + k_of(depth_of(c))) * step_;
    }
  }

  __device__ __forceinline__ void prepare(int) {}

  // Starts copying the warp's values of the next chunk, with zeros past the end of k.
  __device__ __forceinline__ void copy(float* slot) {
    float* own = slot + G::warp() * G::kFew * kDepth;
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
    reading_ = slot + G::warp() * G::kFew * kDepth;
  }

  __device__ __forceinline__ void read(Group& group, int, int u) const {
    const int at = (u / G::kRun * G::kLanesK + G::lane_k()) * G::kRun + u % G::kRun;
    if constexpr (G::kFewContiguousK) {
      read_rows_of_few<kDepth>(group, reading_, at);
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
    return G::kFewContiguousK ? vector / (kDepth / kWidth) : vector % (G::kFew / kWidth) * kWidth;
  }
  static __device__ __forceinline__ int depth_of(int c) {
    const int vector = c * 32 + lane();
    return G::kFewContiguousK ? vector % (kDepth / kWidth) * kWidth : vector / (G::kFew / kWidth);
  }
  // The value of k in a chunk that lies at `depth`: SkinnyGeometry::k_of for the lane that reads
  // it.
  static __device__ __forceinline__ int k_of(int depth) {
    return (depth / kPiece * G::kWorkers + G::warp() * G::kLanesK) * G::kRun + depth % kPiece;
  }

  long long step_;  // between neighbours along k
  int k_;           // of the next chunk
  int k_end_;
  const float* from_[kCopies];
  const float* reading_;
};

}  // namespace gemmtune
