#pragma once

#include "parts/ptx/cp_async.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny/short_in_ring.cuh"
#include "parts/skinny/short_reads.cuh"
#include "parts/skinny/skinny_gemm.cuh"
#include "parts/skinny/skinny_geometry.cuh"

// skinny: fp32 products with few rows or columns, up to some dozens: gemv with the short operand in
// shared memory. Where copy_scope says so each warp copies what it needs of it, chunk by chunk
// (parts/skinny/short_in_ring.cuh); else the block does, tile_k values of k at a time:
//
//     shared memory, short operand:   [tile_k][short]       where the long operand is contiguous
//     along
//                                                       the long side: a read is 4 rows of one k,
//                                                       the same for all lanes of a worker
//                                   [short][tile_k + 4]   where it is contiguous along k: a read is
//                                   4
//                                                       k of one row, neighbouring lanes side by
//                                                       side
//
// The long operand still goes straight to registers, each word to the one thread that uses it.

namespace gemmtune {

// The short operand in shared memory.
template <TileConfig kTile, KernelTraits kTraits>
class ShortInShared {
  using G = SkinnyGeometry<kTile, kTraits>;
  static constexpr int kLimit = G::kShortContiguousK ? kTile.tile_k : G::kShort;
  static constexpr int kWidth = G::kShortVector < kLimit ? G::kShortVector : kLimit;
  static constexpr int kStride = slab_row_floats(kTile);  // [short][tile_k + 4]
  static_assert(kTile.tile_k % G::kChunk == 0, "a slab of shared memory is made of whole chunks");

 public:
  static constexpr int kSmemBytes = 4 * slab_floats(kTile, G::kShape);
  static constexpr int kSlotFloats = 0;
  static constexpr int kGroup = G::kLongContiguousK ? G::kRun : 1;
  using Group = float[kGroup][G::kShort];

  __device__ __forceinline__ ShortInShared(float* smem, const float* base, long long ld, int start,
                                           int extent, int k_begin, int k_end)
      : smem_(smem),
        base_(base),
        ld_(ld),
        start_(start),
        extent_(extent),
        slab_(k_begin),
        k_end_(k_end) {}

  __device__ __forceinline__ void prepare(int k) {
    if (k != slab_) return;
    __syncthreads();  // nobody reads the last slab any more
    if constexpr (kTile.copy == kCopyAsync) {
      fill_async(k);
    } else {
      fill(k);
    }
    slab_ += kTile.tile_k;
    __syncthreads();
  }

  __device__ __forceinline__ void read(Group& group, int k, int u) const {
    const int at = k - (slab_ - kTile.tile_k) + G::k_of(u);
    if constexpr (G::kLongContiguousK) {
      read_rows_of_short<kStride>(group, smem_, at);
    } else {
      read_rows_of_k(group, smem_, at);
    }
  }

 private:
  static constexpr int kVectors = G::kShort * kTile.tile_k / kWidth;

  // The same by cp.async, all of it in flight at once. What is transposed goes word by word.
  __device__ __forceinline__ void fill_async(int k) {
    constexpr bool kAsItLies = G::kShortContiguousK == G::kLongContiguousK;
    constexpr int kCopy = kAsItLies ? kWidth : 1;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < G::kShort * kTile.tile_k / kCopy;
         i += G::kThreads) {
      int r;
      int at;
      place<kCopy>(i, r, at);
      const bool valid = k + at < k_end_;
      cp_async_or_zero<kCopy * 4>(shared_address(smem_ + offset(r, at)),
                                  element<kCopy>(r, valid ? k + at : slab_), valid);
    }
    cp_async_commit();
    cp_async_wait<0>();
  }

  // Copies the slab that begins at k through registers, with zeros past the end of k.
  __device__ __forceinline__ void fill(int k) {
#pragma unroll 8
    for (int i = static_cast<int>(threadIdx.x); i < kVectors; i += G::kThreads) {
      int r;
      int at;
      place<kWidth>(i, r, at);
      FloatVector<kWidth> x{};
      if (k + at < k_end_) x = load_vector<kWidth>(element<kWidth>(r, k + at));
#pragma unroll
      for (int v = 0; v < kWidth; ++v) {
        const int row = r + (G::kShortContiguousK ? 0 : v);
        const int depth = at + (G::kShortContiguousK ? v : 0);
        smem_[offset(row, depth)] = x.v[v];
      }
    }
  }

  static __device__ __forceinline__ int offset(int r, int at) {
    return G::kLongContiguousK ? r * kStride + at : at * G::kShort + r;
  }

  // Row and k of vector i: in the order in which the slab lies in shared memory, or, where vectors
  // lie across it, with neighbouring lanes on neighbouring words.
  template <int kCopy>
  static __device__ __forceinline__ void place(int i, int& r, int& at) {
    if constexpr (!G::kShortContiguousK) {
      r = i % (G::kShort / kCopy) * kCopy;
      at = i / (G::kShort / kCopy);
    } else if constexpr (G::kLongContiguousK) {
      at = i % (kTile.tile_k / kCopy) * kCopy;
      r = i / (kTile.tile_k / kCopy);
    } else {
      r = i % G::kShort;
      at = i / G::kShort * kCopy;
    }
  }

  template <int kCopy>
  __device__ __forceinline__ const float* element(int r, int k) const {
    if constexpr (G::kShortContiguousK) return base_ + min(start_ + r, extent_ - 1) * ld_ + k;
    return base_ + k * ld_ + min(start_ + r, extent_ - kCopy);
  }

  float* smem_;
  const float* base_;
  long long ld_;
  int start_;
  int extent_;
  int slab_;  // where the next slab begins
  int k_end_;
};

template <TileConfig kTile, KernelTraits kTraits, bool kSlabs = kTile.copy_scope == kScopeBlock>
struct Skinny : SkinnyGemm<kTile, kTraits, ShortInShared> {};

template <TileConfig kTile, KernelTraits kTraits>
struct Skinny<kTile, kTraits, false> : SkinnyGemm<kTile, kTraits, ShortInRing> {};

}  // namespace gemmtune
