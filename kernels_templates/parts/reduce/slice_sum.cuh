#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/tile_config.h"

// The extra kernels of a candidate whose k is shared out over kTile.slices blocks, by the way in
// which the partial products are added up (kTile.reduction).

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SliceSum {
  static constexpr int kSlices = kTile.slices;
  static constexpr int kVector = kTraits.vector_c;

  // Where slice `slice` of a batch entry stores its dense m x n partial product.
  static __device__ __forceinline__ float* partial(const GemmArgs& args, int batch, int slice) {
    const long long matrix = static_cast<long long>(slice) * args.batch + batch;
    return static_cast<float*>(args.workspace) + matrix * args.m * args.n;
  }

  // What a kernel that stores a partial product works with: alpha 1, beta 0, no padding.
  static __device__ __forceinline__ GemmArgs dense(const GemmArgs& args) {
    GemmArgs dense = args;
    dense.ldc = args.n;
    dense.alpha = opaque_one(args);
    dense.beta = 0.0f;
    return dense;
  }

  // workspace: C = alpha * (sum of the slices in order) + beta * C, kFinishVectors vectors of C a
  // block. Within a block, row r of the threads adds up slices r, r + kFinishRows, ...; the partial
  // sums are then added in the order of the rows.
  static constexpr int kFinishThreads = kSliceFinishThreads;
  static constexpr int kFinishVectors = slice_finish_vectors(kSlices, kVector);
  static constexpr int kFinishRows = kFinishThreads / kFinishVectors;

  static __device__ __forceinline__ void finish(const GemmArgs& args) {
    __shared__ FloatVector<kVector> sums[kFinishRows][kFinishVectors];
    const int place = static_cast<int>(threadIdx.x) % kFinishVectors;
    const int row = static_cast<int>(threadIdx.x) / kFinishVectors;
    const long long elements = static_cast<long long>(args.m) * args.n * args.batch;
    const long long i = (static_cast<long long>(blockIdx.x) * kFinishVectors + place) * kVector;
    const float* partial = static_cast<const float*>(args.workspace) + i;
    FloatVector<kVector> sum{};
    if (i < elements) {
#pragma unroll
      for (int slice = row; slice < kSlices; slice += kFinishRows) {
        const auto x = load_vector<kVector>(partial + slice * elements);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sum.v[v] += x.v[v];
      }
    }
    sums[row][place] = sum;
    __syncthreads();
    if (row != 0 || i >= elements) return;
    constexpr int kUsed = kSlices < kFinishRows ? kSlices : kFinishRows;
#pragma unroll
    for (int r = 1; r < kUsed; ++r) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sum.v[v] += sums[r][place].v[v];
    }
    store_vector_of_c<kVector>(element_of_c(args, i), sum, args.alpha, args.beta);
  }

  // atomic: C = beta * C, one vector a thread.
  static constexpr int kPrepareThreads = kSlicePrepareThreads;

  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    const long long elements = static_cast<long long>(args.m) * args.n * args.batch;
    const long long i =
        (static_cast<long long>(blockIdx.x) * kPrepareThreads + threadIdx.x) * kVector;
    if (i >= elements) return;
    store_vector_of_c<kVector>(element_of_c(args, i), FloatVector<kVector>{}, 0.0f, args.beta);
  }

 private:
  // Element i of all batch entries of C, counted row by row.
  static __device__ __forceinline__ float* element_of_c(const GemmArgs& args, long long i) {
    const long long entry = static_cast<long long>(args.m) * args.n;
    const long long batch = i / entry;
    const long long row = (i - batch * entry) / args.n;
    const long long column = i - batch * entry - row * args.n;
    return static_cast<float*>(args.c) + batch * args.stride_c + row * args.ldc + column;
  }
};

}  // namespace gemmtune
