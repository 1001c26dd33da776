#pragma once

#include "parts/reduce/reduction.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/skinny_geometry.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny/line_rotation.cuh"
#include "parts/skinny/skinny_geometry.cuh"

// The results of a block of gemv or skinny: acc[short][long] a thread, summed over the k-lanes of a
// warp (shuffles), the warps and the slices, always in the same order. The warps' sums are added in
// shared memory: all at once where they are small, else the number of warps is halved until they
// are.

namespace gemmtune {

// A block's tile of sums (as partial_tile.cuh): in shared memory [short][long] for each of the
// warps, read one by one in the order in which C lies in memory. `row` and `column` are positions.
template <TileConfig kTile, KernelTraits kTraits>
struct SkinnyTile {
  using G = SkinnyGeometry<kTile, kTraits>;
  static constexpr int kVector = kSkinnyPartialVector;
  static constexpr int kRowVectors = kTile.tile_n;
  static constexpr int kVectors = G::kShort * G::kLong;

  int row;
  int column;
  LineRotation rotation;  // of the long side

  static __device__ __forceinline__ SkinnyTile of(const GemmArgs& args, const TileCoordinates& at) {
    SkinnyTile tile{at.row * kTile.tile_m, at.column * kTile.tile_n, {}};
    if constexpr (!G::kLongContiguousK && G::kLongVector > 1) {
      const auto* a = static_cast<const float*>(args.a) + at.batch * args.stride_a;
      const auto* b = static_cast<const float*>(args.b) + at.batch * args.stride_b;
      tile.rotation = G::kShortRows ? line_rotation<G::kLong>(b, args.ldb, args.n)
                                    : line_rotation<G::kLong>(a, args.lda, args.m);
    }
    return tile;
  }

  static __device__ __forceinline__ int offset(int v) {
    return G::kShortRows ? v : v % G::kShort * G::kLong + v / G::kShort;
  }
  __device__ __forceinline__ int m(int v) const {
    return G::kShortRows ? row + v / G::kLong : rotation.place(row + v / G::kShort);
  }
  __device__ __forceinline__ int n(int v) const {
    return G::kShortRows ? rotation.place(column + v % G::kLong) : column + v % G::kShort;
  }
};

template <TileConfig kTile, KernelTraits kTraits>
struct SkinnyResults {
  using G = SkinnyGeometry<kTile, kTraits>;
  using Tile = SkinnyTile<kTile, kTraits>;
  using Reduction = SliceReduction<kTile, kTraits, ElementTypes{}, Tile>;
  static constexpr int kResults = Tile::kVectors;
  static constexpr int kStoringWarps = storing_warps(G::kWarps, kResults);
  static constexpr int kSmemBytes = warp_sums_bytes(G::kWarps, kResults);
  static constexpr int kSlices = Reduction::kSlices;

  float acc[G::kShort][G::kThreadLong];

  __device__ __forceinline__ SkinnyResults() {
#pragma unroll
    for (int r = 0; r < G::kShort; ++r) {
#pragma unroll
      for (int o = 0; o < G::kThreadLong; ++o) acc[r][o] = 0.0f;
    }
  }

  // Adds up everything and stores the tile. Nobody may use `smem` any more for anything else.
  __device__ __forceinline__ void store(float* smem, const GemmArgs& args, const Tile& tile,
                                        int batch, int slice) {
    sum_lanes();
    halve_warps(smem);
    store_sums(smem);
    Reduction::template run<G::kThreads, kStoringWarps, kResults>(smem, args, tile, batch, slice);
  }

 private:
  __device__ __forceinline__ void sum_lanes() {
    constexpr int kFirst = G::kLongContiguousK ? 1 : G::kLanesLong;
#pragma unroll
    for (int mask = kFirst; mask < kFirst * G::kLanesK; mask *= 2) {
#pragma unroll
      for (int r = 0; r < G::kShort; ++r) {
#pragma unroll
        for (int o = 0; o < G::kThreadLong; ++o) {
          acc[r][o] += __shfl_xor_sync(0xffffffffu, acc[r][o], mask);
        }
      }
    }
  }

  // Adds warps to others until kStoringWarps are left.
  __device__ __forceinline__ void halve_warps(float* smem) {
    const int warp = G::warp();
#pragma unroll
    for (int half = G::kWarps / 2; half >= kStoringWarps; half /= 2) {
      __syncthreads();  // the last round's sums are read
      if (G::lane_k() == 0 && warp >= half && warp < 2 * half) {
        float* to = smem + (warp - half) * kResults + G::lane_long();
#pragma unroll
        for (int i = 0; i < G::kShort * G::kThreadLong; ++i) {
          to[i * G::kLanesLong] = acc[i / G::kThreadLong][i % G::kThreadLong];
        }
      }
      __syncthreads();
      if (warp < half) {
        const float* from = smem + warp * kResults + G::lane_long();
#pragma unroll
        for (int i = 0; i < G::kShort * G::kThreadLong; ++i) {
          acc[i / G::kThreadLong][i % G::kThreadLong] += from[i * G::kLanesLong];
        }
      }
    }
  }

  // Stores the sums of the warps that are left to smem [kStoringWarps][short][long].
  __device__ __forceinline__ void store_sums(float* smem) {
    __syncthreads();  // nobody reads it any more
    if (G::lane_k() != 0 || G::warp() >= kStoringWarps) return;
    float* to = smem + G::warp() * kResults;
#pragma unroll
    for (int r = 0; r < G::kShort; ++r) {
#pragma unroll
      for (int o = 0; o < G::kThreadLong; ++o) to[r * G::kLong + G::long_of(o)] = acc[r][o];
    }
  }
};

}  // namespace gemmtune
