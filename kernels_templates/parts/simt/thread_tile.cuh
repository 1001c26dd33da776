#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"

// A thread's share of a warp tile, on the fp32 units.
//
// Lanes form a kLanesM x kLanesN grid. A thread tile is split into subtiles of 4 x 4 (or into
// iterations_m x iterations_n larger ones) that lie kLanesM subtiles apart in m and kLanesN in n,
// so that the lanes of a row read neighbouring 16-byte vectors of shared memory (no bank
// conflicts), and a lane stores 4 neighbouring columns of C:
//
//     warp tile, thread_m = thread_n = 8, kLanesM = 4, kLanesN = 8; numbers are lanes, one a 4 x 4
//     subtile
//        0  1  2 ..  7 |  0  1  2 ..  7
//        8  9 10 .. 15 |  8  9 10 .. 15
//       16 ..          |
//       24 ..          |
//       ---------------+---------------
//        0  1  2 ..  7 |  0  1  2 ..  7      row of acc[i][.] = (i / 4) * kLanesM * 4 + lane_m * 4
//        + i % 4

namespace gemmtune {

template <TileConfig kTile>
struct ThreadTile {
  static constexpr int kM = kTile.thread_m;
  static constexpr int kN = kTile.thread_n;
  static constexpr int kLanesM = kTile.warp_m / kM;
  static constexpr int kLanesN = kTile.warp_n / kN;
  static constexpr int kSubtile = 4;  // floats of one shared-memory vector
  static constexpr int kSubtileM = kTile.iterations_m > 0 ? kM / kTile.iterations_m : kSubtile;
  static constexpr int kSubtileN = kTile.iterations_n > 0 ? kN / kTile.iterations_n : kSubtile;
  static_assert(kLanesM * kLanesN == 32, "a warp tile is 32 thread tiles");
  static_assert(kM % kSubtileM == 0 && kN % kSubtileN == 0,
                "thread tiles are made of whole subtiles");
  static_assert(kSubtileM % kSubtile == 0 && kSubtileN % kSubtile == 0,
                "subtiles are made of 16-byte vectors");

  struct Fragments {
    float a[kM];
    float b[kN];
  };

  float acc[kM][kN];
  int row;     // of subtile 0 in the block tile
  int column;  // of subtile 0 in the block tile

  // `thread` is the place of the calling thread among those that share the block tile.
  __device__ __forceinline__ explicit ThreadTile(int thread = static_cast<int>(threadIdx.x)) {
    place(thread);
#pragma unroll
    for (int i = 0; i < kM; ++i) {
#pragma unroll
      for (int j = 0; j < kN; ++j) acc[i][j] = 0.0f;
    }
  }

  __device__ __forceinline__ void place(int thread) {
    const int warp = thread / 32;
    constexpr int kWarpsN = kTile.tile_n / kTile.warp_n;
    int lane_m;
    int lane_n;
    place_lane(thread % 32, lane_m, lane_n);
    row = warp / kWarpsN * kTile.warp_m + lane_m * kSubtileM;
    column = warp % kWarpsN * kTile.warp_n + lane_n * kSubtileN;
  }

  // Offset of fragment element i from `row` (and j from `column`).
  static __device__ __forceinline__ constexpr int row_offset(int i) {
    return i / kSubtileM * kLanesM * kSubtileM + i % kSubtileM;
  }
  static __device__ __forceinline__ constexpr int column_offset(int j) {
    return j / kSubtileN * kLanesN * kSubtileN + j % kSubtileN;
  }

  // Reads the fragments of one k from the rows of the shared tiles that hold it.
  __device__ __forceinline__ void read(Fragments& f, const float* a_row, const float* b_row) const {
#pragma unroll
    for (int i = 0; i < kM; i += kSubtile) {
      const auto x = load_vector<kSubtile>(a_row + row + row_offset(i));
#pragma unroll
      for (int v = 0; v < kSubtile; ++v) f.a[i + v] = x.v[v];
    }
#pragma unroll
    for (int j = 0; j < kN; j += kSubtile) {
      const auto x = load_vector<kSubtile>(b_row + column + column_offset(j));
#pragma unroll
      for (int v = 0; v < kSubtile; ++v) f.b[j + v] = x.v[v];
    }
  }

  // acc += a * b^T, in the order that the tile asks for. The compiler keeps the order of
  // independent FFMAs, and an operand that the next FFMA reuses need not be read from its register
  // bank again.
  __device__ __forceinline__ void multiply(const Fragments& f) {
    if constexpr (kTile.order == kOrderSerpentineM) {
#pragma unroll
      for (int j = 0; j < kN; ++j) {
#pragma unroll
        for (int step = 0; step < kM; ++step) {
          const int i = j % 2 == 0 ? step : kM - 1 - step;
          acc[i][j] = fmaf(f.a[i], f.b[j], acc[i][j]);
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kM; ++i) {
#pragma unroll
        for (int step = 0; step < kN; ++step) {
          const bool reverse = kTile.order == kOrderSerpentineN && i % 2 == 1;
          const int j = reverse ? kN - 1 - step : step;
          acc[i][j] = fmaf(f.a[i], f.b[j], acc[i][j]);
        }
      }
    }
  }

 private:
  static __device__ __forceinline__ void place_lane(int lane, int& lane_m, int& lane_n) {
    if constexpr (kTile.lanes == kLanesInterleaved) {
      lane_m = 0;
      lane_n = 0;
      int bit_m = 1;
      int bit_n = 1;
#pragma unroll
      for (int bit = 0; bit < 5; ++bit) {
        const int value = (lane >> bit) & 1;
        const bool to_n = bit_m >= kLanesM || (bit_n < kLanesN && bit_n <= bit_m);
        if (to_n) {
          lane_n += value * bit_n;
          bit_n *= 2;
        } else {
          lane_m += value * bit_m;
          bit_m *= 2;
        }
      }
    } else {
      lane_m = lane / kLanesN;
      lane_n = lane % kLanesN;
    }
  }
};

// Adds the product of one pair of shared tiles, [tile_k][kStrideA] and [tile_k][kStrideB], to a
// thread tile. With two fragments the next k is read from shared memory while this one is
// multiplied.
template <TileConfig kTile, int kStrideA, int kStrideB>
__device__ __forceinline__ void multiply_tile(ThreadTile<kTile>& tile, const float* a,
                                              const float* b) {
  using Fragments = typename ThreadTile<kTile>::Fragments;
  if constexpr (kTile.fragments == 2) {
    Fragments fragments[2];
    tile.read(fragments[0], a, b);
#pragma unroll
    for (int k = 0; k < kTile.tile_k; ++k) {
      if (k + 1 < kTile.tile_k) {
        tile.read(fragments[(k + 1) % 2], a + (k + 1) * kStrideA, b + (k + 1) * kStrideB);
      }
      tile.multiply(fragments[k % 2]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < kTile.tile_k; ++k) {
      Fragments fragments;
      tile.read(fragments, a + k * kStrideA, b + k * kStrideB);
      tile.multiply(fragments);
    }
  }
}

}  // namespace gemmtune
