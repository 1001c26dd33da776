#pragma once

#include "parts/operand/k_major_copy.cuh"
#include "parts/ptx/tf32.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/plane_pairs.h"

// What is stored of f32 operands that are split into two tf32 planes, whose sum they are but for
// 2^-23 of themselves: the first is x rounded, the second what that leaves of x, rounded.

namespace gemmtune {

// Of values that tf32 does not hold, infinities and what rounds to them, the second plane makes the
// products NaN (see NanComputedAgain).
struct AsTf32Planes {
  static constexpr int kPlanes = PlanePairs<k3xTf32>::kPlanes;

  static __device__ __forceinline__ void store(float* to, long long plane,
                                               const FloatVector<kKMajorVector>& values) {
    FloatVector<kKMajorVector> big;
    FloatVector<kKMajorVector> small;
#pragma unroll
    for (int i = 0; i < kKMajorVector; ++i) {
      big.v[i] = nearest_tf32(values.v[i]);
      small.v[i] = nearest_tf32(values.v[i] - big.v[i]);
    }
    store_vector(to, big);
    store_vector(to + plane, small);
  }
};

template <KernelTraits kTraits>
using Tf32Planes = KMajorCopies<kTraits, AsTf32Planes>;

}  // namespace gemmtune
