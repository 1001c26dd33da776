#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/cluster.cuh"
#include "parts/reduce/slice_sum.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/skinny_geometry.h"
#include "parts/skinny/line_rotation.cuh"
#include "parts/skinny/skinny_geometry.cuh"

// The results of a block of gemv or skinny: acc[short][long] a thread, summed over the k-lanes of a
// warp (shuffles), the warps and the slices, always in the same order. Their sums are added in
// shared memory: all at once where their sums are small, else their number is halved until they
// are.

namespace gemmtune {

// Where a block's tile belongs: `row` and `column` are positions.
struct SkinnyTile {
  int batch;
  int row;
  int column;
  int slice;
  LineRotation rotation;  // of the long side
};

template <TileConfig kTile, KernelTraits kTraits>
struct SkinnyResults {
  using G = SkinnyGeometry<kTile, kTraits>;
  using Sum = SliceSum<kTile, kTraits>;
  static constexpr int kResults = G::kShort * G::kLong;  // of the tile
  static constexpr int kStoringWarps = storing_warps(G::kWarps, kResults);
  static constexpr int kSmemBytes = warp_sums_bytes(G::kWarps, kResults);
  static constexpr int kSlices = kTile.slices > 1 ? kTile.slices : 1;

  float acc[G::kShort][G::kThreadLong];

  __device__ __forceinline__ SkinnyResults() {
#pragma unroll
    for (int r = 0; r < G::kShort; ++r) {
#pragma unroll
      for (int o = 0; o < G::kThreadLong; ++o) acc[r][o] = 0.0f;
    }
  }

  // Adds up everything and stores the tile. Nobody may use `smem` any more for anything else.
  __device__ __forceinline__ void store(float* smem, const GemmArgs& args, const SkinnyTile& tile) {
    sum_lanes();
    halve_warps(smem);
    store_sums(smem);
    __syncthreads();
    if constexpr (kSlices == 1) {
      store_results(smem, args, tile, 0, 1);
    } else if constexpr (kTile.reduction == kReduceCluster) {
      for (int i = static_cast<int>(threadIdx.x); i < kResults; i += G::kThreads) {
        smem[i] = sum_of(smem, i);
      }
      cluster_sync();
      store_results(smem, args, tile, tile.slice, kSlices);
      cluster_sync();  // no block may leave while others read its shared memory
    } else {
      store_partial(smem, args, tile);
    }
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

  // The block's sum of the i-th result, as they lie in shared memory.
  static __device__ __forceinline__ float sum_of(const float* smem, int i) {
    float sum = smem[i];
#pragma unroll
    for (int w = 1; w < kStoringWarps; ++w) sum += smem[w * kResults + i];
    return sum;
  }

  struct Place {
    int m;
    int n;
    int smem;
  };

  // The i-th result in the order in which C lies in memory.
  static __device__ __forceinline__ Place place(int i, const SkinnyTile& tile) {
    const int r = G::kShortRows ? i / G::kLong : i % G::kShort;
    const int o = G::kShortRows ? i % G::kLong : i / G::kShort;
    const int smem = r * G::kLong + o;
    if constexpr (G::kShortRows) return {tile.row + r, tile.rotation.place(tile.column + o), smem};
    return {tile.rotation.place(tile.row + o), tile.column + r, smem};
  }

  // Block `rank` of `ranks` sums and stores every ranks-th run of kThreads results.
  static __device__ __forceinline__ void store_results(const float* smem, const GemmArgs& args,
                                                       const SkinnyTile& tile, int rank,
                                                       int ranks) {
    const auto writer = ResultWriter<kTraits.epilogue>::of(args, tile.batch);
    for (int i = rank * G::kThreads + static_cast<int>(threadIdx.x); i < kResults;
         i += ranks * G::kThreads) {
      const Place at = place(i, tile);
      if (at.m >= args.m || at.n >= args.n) continue;
      float sum = 0.0f;
      if constexpr (kSlices > 1 && kTile.reduction == kReduceCluster) {
#pragma unroll
        for (int s = 0; s < kSlices; ++s) sum += cluster_load_float(smem + at.smem, s);
      } else {
        sum = sum_of(smem, at.smem);
      }
      writer.template store<1>({sum}, at.m, at.n);
    }
  }

  static __device__ __forceinline__ void store_partial(const float* smem, const GemmArgs& args,
                                                       const SkinnyTile& tile) {
    float* c = static_cast<float*>(args.c) + tile.batch * args.stride_c;
    for (int i = static_cast<int>(threadIdx.x); i < kResults; i += G::kThreads) {
      const Place at = place(i, tile);
      if (at.m >= args.m || at.n >= args.n) continue;
      if constexpr (kTile.reduction == kReduceAtomic) {
        atomicAdd(c + at.m * args.ldc + at.n, args.alpha * sum_of(smem, at.smem));
      } else {
        Sum::partial(args, tile.batch, tile.slice)[static_cast<long long>(at.m) * args.n + at.n] =
            sum_of(smem, at.smem);
      }
    }
  }
};

}  // namespace gemmtune
