#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny/skinny_gemm.cuh"
#include "parts/skinny/skinny_geometry.cuh"

// gemv: fp32 products with very few rows or columns, bound by reading the long operand once.
//
//     C: m x n, m small               B, the long operand: k x n
//     +-----+-----+-----+             +-----+-----+-----+
//     | b0  | b1  | b2  |  short x long |w0   |     |     |   every warp of a block reads its own k
//     +-----+-----+-----+             |w1   | b1  | b2  |   of the block's columns, unroll values
//                                     |w0   |     |     |   a thread at a time, straight into
//                                     |w1   |     |     |   registers
//                                     +-----+-----+-----+
//
// With few columns it is A that is read that way. The short operand comes through L1: all lanes of
// a worker read the same words, and the other warps find them there; for more rows see skinny. How
// lanes lie: parts/skinny/skinny_geometry.cuh; how the parts of a sum are added, over lanes, warps
// and slices: parts/skinny/skinny_results.cuh.

namespace gemmtune {

// The short operand straight from global memory.
template <TileConfig kTile, KernelTraits kTraits>
class ShortFromGlobal {
  using G = SkinnyGeometry<kTile, kTraits>;
  static constexpr int kLimit = G::kShortContiguousK ? G::kRun : G::kShort;
  static constexpr int kWidth = G::kShortVector < kLimit ? G::kShortVector : kLimit;

 public:
  static constexpr int kSmemBytes = 0;
  static constexpr int kSlotFloats = 0;
  static constexpr int kGroup = G::kShortContiguousK ? kWidth : 1;
  using Group = float[kGroup][G::kShort];

  __device__ __forceinline__ ShortFromGlobal(float*, const float* base, long long ld, int start,
                                             int extent, int, int k_end)
      : base_(base), ld_(ld), start_(start), extent_(extent), k_end_(k_end) {}

  __device__ __forceinline__ void prepare(int) {}

  __device__ __forceinline__ void read(Group& group, int k, int u) const {
    const int at = k + G::k_of(u);
    const bool valid = at < k_end_;
    if constexpr (G::kShortContiguousK) {
#pragma unroll
      for (int r = 0; r < G::kShort; ++r) {
        FloatVector<kWidth> x{};
        if (valid) x = load_vector<kWidth>(base_ + min(start_ + r, extent_ - 1) * ld_ + at);
#pragma unroll
        for (int v = 0; v < kWidth; ++v) group[v][r] = x.v[v];
      }
    } else {
#pragma unroll
      for (int r = 0; r < G::kShort; r += kWidth) {
        FloatVector<kWidth> x{};
        if (valid) x = load_vector<kWidth>(base_ + at * ld_ + min(start_ + r, extent_ - kWidth));
#pragma unroll
        for (int v = 0; v < kWidth; ++v) group[0][r + v] = x.v[v];
      }
    }
  }

 private:
  const float* base_;
  long long ld_;
  int start_;
  int extent_;
  int k_end_;
};

template <TileConfig kTile, KernelTraits kTraits>
struct Gemv : SkinnyGemm<kTile, kTraits, ShortFromGlobal> {};

}  // namespace gemmtune
