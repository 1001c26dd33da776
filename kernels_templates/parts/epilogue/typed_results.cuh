#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/ptx/half_access.cuh"
#include "parts/shared/gemm_args.h"

// Stores results of any element type: C = alpha * sum + beta * C, rounded once. C is read only when
// beta is not 0 (it may hold NaN otherwise).

namespace gemmtune {

__device__ __forceinline__ float scaled_result(float sum, float old, const GemmArgs& args) {
  return args.beta != 0.0f ? fmaf(args.beta, old, args.alpha * sum) : args.alpha * sum;
}

// kVector neighbouring elements, as one access.
template <ElementType kType, int kVector>
__device__ __forceinline__ void store_results(typename StoredElement<kType>::Type* c,
                                              const FloatVector<kVector>& sums,
                                              const GemmArgs& args) {
  if constexpr (kType == kF32) {
    store_vector_of_c(c, sums, args.alpha, args.beta);
  } else if constexpr (kVector == 1) {
    const float old = args.beta != 0.0f ? from_half<kType>(*c) : 0.0f;
    *c = to_half<kType>(scaled_result(sums.v[0], old, args));
  } else {
    HalfVector<kVector> out = {};
    if (args.beta != 0.0f) out = load_halves<kVector>(c);
#pragma unroll
    for (int v = 0; v < kVector; v += 2) {
      const float first = scaled_result(sums.v[v], from_half<kType>(out.get(v)), args);
      const float second = scaled_result(sums.v[v + 1], from_half<kType>(out.get(v + 1)), args);
      out.words[v / 2] = to_half_pair<kType>(first, second);
    }
    store_halves(c, out);
  }
}

// The sums are what they are.
struct AsSummed {
  __device__ __forceinline__ float operator()(float sum, int, int) const { return sum; }
};

// Four neighbouring columns from `column` on, of row m of C, which exists and begins at `c_row`, as
// far as they exist; kAligned is the number of elements that an access may have. `corrected` is
// given each sum and the row and column of C that it is for.
template <ElementType kType, int kAligned, class Corrected>
__device__ __forceinline__ void store_results_of_row(typename StoredElement<kType>::Type* c_row,
                                                     const FloatVector<4>& sums,
                                                     const GemmArgs& args, int m, int column,
                                                     Corrected corrected) {
  constexpr int kVector = kAligned < 4 ? kAligned : 4;
#pragma unroll
  for (int j = 0; j < 4; j += kVector) {
    if (column + j >= args.n) continue;
    FloatVector<kVector> part;
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      part.v[v] = corrected(sums.v[j + v], m, column + j + v);
    }
    store_results<kType, kVector>(c_row + column + j, part, args);
  }
}

}  // namespace gemmtune
