#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/epilogue.h"
#include "parts/shared/gemm_args.h"

// C = activation(C + bias) in place: what follows a product of a library that lacks the epilogue.
// A thread takes kVector neighbouring columns, and of the last ones of a row one after the other:
//
//                     threadIdx.x
//                     0       1       2
//     threadIdx.y 0   [ 4   ] [ 4   ] [1]      kVector = 4, n = 9
//                 1   [ 4   ] [ 4   ] [1]
//
// C holds sums that were rounded to its type, and is rounded once more: 16-bit results are one
// rounding less exact than those of a kernel that has the epilogue.

namespace gemmtune {

// Of `args` m, n, batch, c, its leading dimension and stride, and the bias count. C's address, and
// where there is more than one row or batch entry their distances, are multiples of kVector
// elements. The grid has threads for all columns.
template <Epilogue kEpilogue, ElementType kType, int kVector>
__device__ __forceinline__ void apply_epilogue(GemmArgs args) {
  args.alpha = 1.0f;
  args.beta = 0.0f;
  const unsigned m = args.m;
  const unsigned n = args.n;
  const unsigned batches = args.batch;
  const unsigned column = (blockIdx.x * blockDim.x + threadIdx.x) * kVector;
  if (column >= n) return;
  for (unsigned batch = blockIdx.z; batch < batches; batch += gridDim.z) {
    const auto writer = ResultWriter<kEpilogue, kType>::of(args, batch);
    for (unsigned row = blockIdx.y * blockDim.y + threadIdx.y; row < m;
         row += gridDim.y * blockDim.y) {
      const auto* from = writer.c + row * args.ldc + column;
      if (n - column >= kVector) {
        writer.store(load_elements<kType, kVector>(from), row, column);
      } else {
        for (unsigned i = 0; i < n - column; ++i)
          writer.store(load_elements<kType, 1>(from + i), row, column + i);
      }
    }
  }
}

}  // namespace gemmtune
