#pragma once

#include "parts/cluster.cuh"
#include "parts/gemm_args.h"
#include "parts/simt_epilogue.cuh"
#include "parts/skinny_geometry.cuh"
#include "parts/slice_sum.cuh"

// The results of a block of gemv or skinny: acc[few][long] a thread, summed over the k-lanes of a
// warp (shuffles), the warps (shared memory, halving the number each time) and the slices, always
// in the same order.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SkinnyResults {
  using G = SkinnyGeometry<kTile, kTraits>;
  using Sum = SliceSum<kTile, kTraits>;
  static constexpr int kResults = G::kFew * G::kLong;  // of the tile
  static constexpr int kHalf = G::kWarps / 2;
  static constexpr int kSmemBytes = (kHalf > 1 ? kHalf : 1) * kResults * 4;
  static constexpr int kSlices = kTile.slices > 1 ? kTile.slices : 1;

  float acc[G::kFew][G::kThreadLong];

  __device__ __forceinline__ SkinnyResults() {
#pragma unroll
    for (int r = 0; r < G::kFew; ++r) {
#pragma unroll
      for (int o = 0; o < G::kThreadLong; ++o) acc[r][o] = 0.0f;
    }
  }

  // Adds up everything and stores the tile at (row, column) of C. Nobody may use `smem` any more
  // for anything else.
  __device__ __forceinline__ void store(float* smem, const GemmArgs& args, int batch, int row,
                                        int column, int slice) {
    sum_lanes();
    sum_warps(smem);
    if constexpr (kSlices == 1) {
      __syncthreads();
      store_results(smem, args, batch, row, column, 0, 1, args.alpha);
    } else if constexpr (kTile.reduction == kReduceCluster) {
      cluster_sync();
      store_results(smem, args, batch, row, column, slice, kSlices, args.alpha);
      cluster_sync();  // no block may leave while others read its shared memory
    } else {
      __syncthreads();
      store_partial(smem, args, batch, row, column, slice);
    }
  }

 private:
  __device__ __forceinline__ void sum_lanes() {
    constexpr int kFirst = G::kLongContiguousK ? 1 : G::kLanesLong;
#pragma unroll
    for (int mask = kFirst; mask < kFirst * G::kLanesK; mask *= 2) {
#pragma unroll
      for (int r = 0; r < G::kFew; ++r) {
#pragma unroll
        for (int o = 0; o < G::kThreadLong; ++o) {
          acc[r][o] += __shfl_xor_sync(0xffffffffu, acc[r][o], mask);
        }
      }
    }
  }

  // Leaves the block's sums in smem [few][long]; others may not have written theirs yet.
  __device__ __forceinline__ void sum_warps(float* smem) {
    const bool writes = G::lane_k() == 0;
    const int warp = G::warp();
#pragma unroll
    for (int half = kHalf; half > 0; half /= 2) {
      __syncthreads();  // the last round's sums are read
      if (writes && warp >= half && warp < 2 * half) {
        float* to = smem + (warp - half) * kResults + G::lane_long();
#pragma unroll
        for (int i = 0; i < G::kFew * G::kThreadLong; ++i) {
          to[i * G::kLanesLong] = acc[i / G::kThreadLong][i % G::kThreadLong];
        }
      }
      __syncthreads();
      if (warp < half) {
        const float* from = smem + warp * kResults + G::lane_long();
#pragma unroll
        for (int i = 0; i < G::kFew * G::kThreadLong; ++i) {
          acc[i / G::kThreadLong][i % G::kThreadLong] += from[i * G::kLanesLong];
        }
      }
    }
    __syncthreads();
    if (!writes || warp != 0) return;
#pragma unroll
    for (int r = 0; r < G::kFew; ++r) {
#pragma unroll
      for (int o = 0; o < G::kThreadLong; ++o) smem[r * G::kLong + G::long_of(o)] = acc[r][o];
    }
  }

  struct Place {
    int m;
    int n;
    int smem;
  };

  // The i-th result in the order in which C lies in memory.
  static __device__ __forceinline__ Place place(int i, int row, int column) {
    const int r = G::kFewRows ? i / G::kLong : i % G::kFew;
    const int o = G::kFewRows ? i % G::kLong : i / G::kFew;
    return {row + (G::kFewRows ? r : o), column + (G::kFewRows ? o : r), r * G::kLong + o};
  }

  // Block `rank` of `ranks` sums and stores every ranks-th run of kThreads results.
  static __device__ __forceinline__ void store_results(const float* smem, const GemmArgs& args,
                                                       int batch, int row, int column, int rank,
                                                       int ranks, float alpha) {
    float* c = static_cast<float*>(args.c) + batch * args.stride_c;
    for (int i = rank * G::kThreads + static_cast<int>(threadIdx.x); i < kResults;
         i += ranks * G::kThreads) {
      const Place at = place(i, row, column);
      if (at.m >= args.m || at.n >= args.n) continue;
      float sum = 0.0f;
      if constexpr (kSlices > 1 && kTile.reduction == kReduceCluster) {
#pragma unroll
        for (int s = 0; s < kSlices; ++s) sum += cluster_load_float(smem + at.smem, s);
      } else {
        sum = smem[at.smem];
      }
      store_vector_of_c<1>(c + at.m * args.ldc + at.n, {sum}, alpha, args.beta);
    }
  }

  static __device__ __forceinline__ void store_partial(const float* smem, const GemmArgs& args,
                                                       int batch, int row, int column, int slice) {
    float* c = static_cast<float*>(args.c) + batch * args.stride_c;
    for (int i = static_cast<int>(threadIdx.x); i < kResults; i += G::kThreads) {
      const Place at = place(i, row, column);
      if (at.m >= args.m || at.n >= args.n) continue;
      if constexpr (kTile.reduction == kReduceAtomic) {
        atomicAdd(c + at.m * args.ldc + at.n, args.alpha * smem[at.smem]);
      } else {
        Sum::partial(args, batch, slice)[static_cast<long long>(at.m) * args.n + at.n] =
            smem[at.smem];
      }
    }
  }
};

}  // namespace gemmtune
