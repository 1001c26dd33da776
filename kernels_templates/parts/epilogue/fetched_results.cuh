#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/half_access.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/element_types.h"

// Results of what C held, where that is fetched some time before it is overwritten
// (KernelTraits::fetches_c). In a plain loop over results each one's load would wait for the store
// before it, since the compiler cannot tell that they are of different elements.

namespace gemmtune {

// What C holds of kVector neighbouring elements from column n of row m on, which exist; zeros where
// it is not read.
template <int kVector, class Writer>
__device__ __forceinline__ typename Writer::template BiasVector<kVector> fetched(
    const Writer& writer, int m, int n) {
  if (writer.args.beta == 0.0f) return {};
  return Writer::template BiasVector<kVector>::load(writer.c + m * writer.args.ldc + n);
}

// Rounds values and stores them as one access.
template <ElementType kType, int kVector>
__device__ __forceinline__ void store_rounded(typename StoredElement<kType>::Type* to,
                                              const FloatVector<kVector>& values) {
  if constexpr (has_32_bits(kType)) {
    store_vector<kVector>(to, values);
  } else if constexpr (kVector == 1) {
    *to = to_half<kType>(values.v[0]);
  } else {
    HalfVector<kVector> rounded;
#pragma unroll
    for (int v = 0; v < kVector; v += 2)
      rounded.words[v / 2] = to_half_pair<kType>(values.v[v], values.v[v + 1]);
    store_halves<kVector>(to, rounded);
  }
}

// As Writer::store(), over what fetched() returned.
template <ElementType kType, int kVector, class Writer>
__device__ __forceinline__ void store_over(const StoredVector<kType, kVector>& old,
                                           const Writer& writer, const FloatVector<kVector>& sums,
                                           int m, int n,
                                           const StoredVector<kType, kVector>& of_columns) {
  const float of_row = writer.row_bias(m);
  FloatVector<kVector> values;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    const float bias = Writer::kHasColumnBias ? of_columns.get(v) : of_row;
    values.v[v] =
        writer.template results<true>({sums.v[v], 0.0f}, {old.get(v), 0.0f}, {bias, 0.0f}).v[0];
  }
  store_rounded<kType>(writer.c + m * writer.args.ldc + n, values);
}

}  // namespace gemmtune
