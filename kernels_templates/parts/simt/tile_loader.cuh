#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/thread_tiles.h"
#include "parts/simt/tile_iterator.cuh"

// Brings one kTileMn x kTileK tile of A or B from global to shared memory, through registers, in
// two steps, so that the loads of the next tile are in flight while this one is computed.
//
// The operand is seen as an (mn, k) matrix: mn is m for A and n for B. In shared memory the tile is
// always [k][mn] with row length kStride, which is what the outer product reads:
//
//     global, contiguous along k        shared                 global, contiguous along mn
//     mn                                k
//     |  x x x x -> k                   |  x . . . -> mn       k  x x x x -> mn
//     v  . . . .        transposed      v  x . . .    copied   |  . . . .
//        . . . .     (one store a k)       x . . .             v
//                                          x . . .
//
// Padding: with 4 words of padding a row starts 4 banks after the last, so that the transposing
// stores of a warp (tile_k = 8: two 4-wide vectors a row of A, 16 rows) hit 32 different banks.
//
// Edges of mn as in tile_iterator.cuh; k past the end is filled with zeros. The k remainder is
// loaded first, by load_first(), so that every later load is unpredicated.

namespace gemmtune {

template <int kTileMn, int kTileK, class Group, int kVector, bool kContiguousK, int kStride>
class TileLoader {
  using Iterator = TileIterator<kTileMn, kTileK, Group, kVector, kContiguousK>;
  static_assert(copied_evenly(Group::kThreads, kTileMn, kTileK, kContiguousK, kVector),
                "threads divide the accesses of a tile");

 public:
  // `base` is the operand's first element; `start` the tile's first mn; `extent` the operand's mn.
  __device__ __forceinline__ TileLoader(const float* base, long long ld, int start, int extent)
      : iterator_(base, ld, start, extent) {}

  // Loads the first tile, of which only the first `depth` (1..kTileK) values of k exist.
  __device__ __forceinline__ void load_first(int depth) {
    iterator_.visit([&](int i, const float* from, bool inside) {
      staged_[i] = {};
      if (inside && Iterator::k_of(i) < depth) staged_[i] = load_vector<kVector>(from);
    });
    iterator_.advance(depth);
  }

  // Loads the next whole tile. What lies outside stays as it was: 0.
  __device__ __forceinline__ void load_next() {
    iterator_.visit([&](int i, const float* from, bool inside) {
      if (inside) staged_[i] = load_vector<kVector>(from);
    });
    iterator_.advance(kTileK);
  }

  // Writes what was loaded last to the shared tile.
  __device__ __forceinline__ void store(float* tile) const {
#pragma unroll
    for (int i = 0; i < Iterator::kCopies; ++i) {
      float* to = tile + (Iterator::k_of(i) * kStride + Iterator::mn_of(i));
      if constexpr (kContiguousK) {
#pragma unroll
        for (int v = 0; v < kVector; ++v) to[v * kStride] = staged_[i].v[v];
      } else {
        store_vector(to, staged_[i]);
      }
    }
  }

 private:
  Iterator iterator_;
  FloatVector<kVector> staged_[Iterator::kCopies];
};

}  // namespace gemmtune
