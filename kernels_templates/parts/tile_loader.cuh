#pragma once

#include "parts/vector_access.cuh"

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
// Edges: mn past the end is clamped to the last legal vector (read twice, its results are never
// stored); k past the end is filled with zeros. The k remainder is loaded first, by load_first(),
// so that every later load is unpredicated.

namespace gemmtune {

template <int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK, int kStride>
class TileLoader {
  static constexpr int kInner =
      (kContiguousK ? kTileK : kTileMn) / kVector;  // vectors along memory
  static constexpr int kOuter = kContiguousK ? kTileMn : kTileK;
  static constexpr int kCopies = kInner * kOuter / kThreads;  // vectors a thread moves
  static_assert(kInner * kOuter % kThreads == 0, "threads divide the vectors of a tile");

 public:
  // `base` is the operand's first element; `start` the tile's first mn; `extent` the operand's mn.
  __device__ __forceinline__ TileLoader(const float* base, long long ld, int start, int extent)
      : ld_(ld) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const int mn = min(start + mn_of(i), extent - (kContiguousK ? 1 : kVector));
      from_[i] = base + (kContiguousK ? mn * ld + k_of(i) : k_of(i) * ld + mn);
    }
  }

  // Loads the first tile, of which only the first `depth` (1..kTileK) values of k exist.
  __device__ __forceinline__ void load_first(int depth) {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      if (k_of(i) < depth) {
        held_[i] = load_vector<kVector>(from_[i]);
      } else {
#pragma unroll
        for (int v = 0; v < kVector; ++v) held_[i].v[v] = 0.0f;
      }
      from_[i] += kContiguousK ? depth : depth * ld_;
    }
  }

  // Loads the next whole tile.
  __device__ __forceinline__ void load_next() {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      held_[i] = load_vector<kVector>(from_[i]);
      from_[i] += kContiguousK ? kTileK : kTileK * ld_;
    }
  }

  // Writes what was loaded last to the shared tile.
  __device__ __forceinline__ void store(float* tile) const {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      float* to = tile + k_of(i) * kStride + mn_of(i);
      if constexpr (kContiguousK) {
#pragma unroll
        for (int v = 0; v < kVector; ++v) to[v * kStride] = held_[i].v[v];
      } else {
        store_vector(to, held_[i]);
      }
    }
  }

 private:
  static __device__ __forceinline__ int inner_of(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) % kInner;
  }
  static __device__ __forceinline__ int outer_of(int i) {
    return (static_cast<int>(threadIdx.x) + i * kThreads) / kInner;
  }
  static __device__ __forceinline__ int k_of(int i) {
    return kContiguousK ? inner_of(i) * kVector : outer_of(i);
  }
  static __device__ __forceinline__ int mn_of(int i) {
    return kContiguousK ? outer_of(i) : inner_of(i) * kVector;
  }

  long long ld_;
  const float* from_[kCopies];
  FloatVector<kVector> held_[kCopies];
};

}  // namespace gemmtune
