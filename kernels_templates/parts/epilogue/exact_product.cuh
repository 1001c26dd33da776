#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"

// An element of op(A) * op(B) by plain f32 multiply-adds from global memory: slow, for elements
// that a faster way cannot compute.

namespace gemmtune {

// Sum over all k of row m of A and column n of B. `batch` is the batch entry.
template <KernelTraits kTraits>
__device__ __noinline__ float exact_product(const GemmArgs& args, int batch, int m, int n) {
  const float* a = static_cast<const float*>(args.a) + batch * args.stride_a +
                   (kTraits.a_row_major ? m * args.lda : m);
  const float* b = static_cast<const float*>(args.b) + batch * args.stride_b +
                   (kTraits.b_row_major ? n : n * args.ldb);
  const long long step_a = kTraits.a_row_major ? 1 : args.lda;
  const long long step_b = kTraits.b_row_major ? args.ldb : 1;
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < args.k; ++k) sum = fmaf(a[k * step_a], b[k * step_b], sum);
  return sum;
}

// In products of parts an infinity meets the zeros that small parts may be, and makes NaN. Sums
// that are NaN are computed again.
template <KernelTraits kTraits>
struct NanComputedAgain {
  static constexpr bool kCorrects = true;

  const GemmArgs& args;
  int batch;

  __device__ __forceinline__ float operator()(float sum, int m, int n) const {
    return sum == sum ? sum : exact_product<kTraits>(args, batch, m, n);
  }
};

// What has to be done to sums over all of k before they are results.
template <KernelTraits kTraits, ElementTypes kTypes>
__device__ __forceinline__ auto correction(const GemmArgs& args, int batch) {
  if constexpr (kTypes.products == k3xTf32 || kTypes.products == kBf16x6 ||
                kTypes.products == kBf16x9) {
    return NanComputedAgain<kTraits>{args, batch};
  } else {
    return AsSummed{};
  }
}

}  // namespace gemmtune
