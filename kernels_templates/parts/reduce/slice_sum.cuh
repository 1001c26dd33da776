#pragma once

#include "parts/epilogue/result_writer.cuh"
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

  // What a kernel that stores a partial product works with: alpha 1, beta 0, no padding, and a
  // writer without an epilogue.
  using PartialWriter = ResultWriter<Epilogue{}>;
  static __device__ __forceinline__ GemmArgs dense(const GemmArgs& args) {
    GemmArgs dense = args;
    dense.ldc = args.n;
    dense.alpha = opaque_one(args);
    dense.beta = 0.0f;
    return dense;
  }

  // workspace: the sum of the slices in order becomes results, kFinishVectors vectors of C a
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
    store(args, i, sum);
  }

  // atomic: C = beta * C + bias, one vector a thread.
  static constexpr int kPrepareThreads = kSlicePrepareThreads;

  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    const long long elements = static_cast<long long>(args.m) * args.n * args.batch;
    const long long i =
        (static_cast<long long>(blockIdx.x) * kPrepareThreads + threadIdx.x) * kVector;
    if (i >= elements) return;
    GemmArgs without_product = args;
    without_product.alpha = 0.0f;
    store(without_product, i, FloatVector<kVector>{});
  }

 private:
  // Stores a vector of results from element i of all batch entries of C on, counted row by row.
  static __device__ __forceinline__ void store(const GemmArgs& args, long long i,
                                               const FloatVector<kVector>& sum) {
    const long long entry = static_cast<long long>(args.m) * args.n;
    const long long batch = i / entry;
    const long long row = (i - batch * entry) / args.n;
    const long long column = i - batch * entry - row * args.n;
    ResultWriter<kTraits.epilogue>::of(args, static_cast<int>(batch))
        .template store<kVector>(sum, static_cast<int>(row), static_cast<int>(column));
  }
};

}  // namespace gemmtune
