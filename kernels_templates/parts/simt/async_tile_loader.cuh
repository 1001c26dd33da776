#pragma once

#include "parts/ptx/cp_async.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/shared/thread_tiles.h"
#include "parts/simt/tile_iterator.cuh"

// Brings kTileMn x kTileK tiles of A or B from global to shared memory by cp.async, without passing
// through registers; the threads of Group (thread_group.cuh) share out the copies, of kWidth
// elements each. The shared tile is [k][mn] with rows of kStride floats.
//
// An operand that is contiguous along k is transposed by copies of one
// element: each lands where it belongs. With tile_k = 8 and 4 words of padding, the 8 k x 4 mn
// words of a warp's copy hit 32 different banks.
//
// Edges of mn as in tile_iterator.cuh; k past the end is filled with zeros in the first tile, which
// holds the k remainder.

namespace gemmtune {

template <int kTileMn, int kTileK, class Group, int kWidth, bool kContiguousK, int kStride>
class AsyncTileLoader {
  using Iterator = TileIterator<kTileMn, kTileK, Group, kWidth, kContiguousK>;

 public:
  static_assert(copied_evenly(32, kTileMn, kTileK, kContiguousK, kWidth),
                "warps divide the accesses of a tile");

  // `base` is the operand's first element; `start` the tile's first mn; `extent` the operand's mn.
  __device__ __forceinline__ AsyncTileLoader(const float* base, long long ld, int start, int extent)
      : iterator_(base, ld, start, extent) {}

  // Starts copying the first tile, of which only the first `depth` (1..kTileK) values of k exist.
  __device__ __forceinline__ void copy_first(float* tile, int depth) {
    iterator_.visit([&](int i, const float* from, bool inside) {
      copy(i, tile, from, inside && Iterator::k_of(i) < depth);
    });
    iterator_.advance(depth);
  }

  // Starts copying the next whole tile.
  __device__ __forceinline__ void copy_next(float* tile) {
    iterator_.visit([&](int i, const float* from, bool inside) { copy(i, tile, from, inside); });
    iterator_.advance(kTileK);
  }

  // Starts copying part `part` of `parts` of the next whole tile, or zeros in its place if there is
  // none (`exists` is false).
  __device__ __forceinline__ void copy_part(float* tile, int part, int parts, bool exists) {
    iterator_.visit_part(part, parts, [&](int i, const float* from, bool inside) {
      copy(i, tile, from, inside && exists);
    });
  }

 private:
  static __device__ __forceinline__ void copy(int i, float* tile, const float* from, bool valid) {
    if (Iterator::has(i))
      cp_async_or_zero<kWidth * 4>(shared_address(tile + offset_of(i)), from, valid);
  }

  static __device__ __forceinline__ constexpr int offset(int mn, int k) { return k * kStride + mn; }

  // Of copy i in the shared tile. Where copies lie powers of two apart, that is the first's and a
  // constant.
  static __device__ __forceinline__ int offset_of(int i) {
    if constexpr (Iterator::kPowersApart) {
      return offset(Iterator::mn_of(0), Iterator::k_of(0)) +
             offset(Iterator::mn_of(i) - Iterator::mn_of(0), Iterator::k_of(i) - Iterator::k_of(0));
    } else {
      return offset(Iterator::mn_of(i), Iterator::k_of(i));
    }
  }

  Iterator iterator_;
};

}  // namespace gemmtune
