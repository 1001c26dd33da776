#pragma once

#include "parts/epilogue/activation.cuh"
#include "parts/ptx/half_access.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/epilogue.h"
#include "parts/shared/gemm_args.h"

// The one place where sums over all of k become results:
//
//     C = activation(alpha * sum + beta * C + bias)
//
// in f32, rounded once to C's type. C is read only when beta is not 0 (it may hold NaN otherwise),
// and nothing outside the m x n matrix is touched. Strategies and reductions decide which thread
// stores what, and in which order.

namespace gemmtune {

// The sums are what they are.
struct AsSummed {
  __device__ __forceinline__ float operator()(float sum, int, int) const { return sum; }
};

// kCount neighbouring elements of a type, as one access.
template <ElementType kType, int kCount, class Read = AsWritten>
__device__ __forceinline__ FloatVector<kCount> load_elements(
    const typename StoredElement<kType>::Type* from) {
  if constexpr (kType == kF32) {
    return load_vector<kCount, Read>(from);
  } else if constexpr (kCount == 1) {
    return {from_half<kType>(Read::of(from))};
  } else {
    const auto x = load_halves<kCount, Read>(from);
    FloatVector<kCount> out;
#pragma unroll
    for (int i = 0; i < kCount; ++i) out.v[i] = from_half<kType>(x.get(i));
    return out;
  }
}

template <Epilogue kEpilogue, ElementType kResult = kF32>
struct ResultWriter {
  using Element = typename StoredElement<kResult>::Type;

  const GemmArgs& args;
  Element* c;  // the batch entry's first element

  // Of batch entry `batch` of C.
  static __device__ __forceinline__ ResultWriter of(const GemmArgs& args, int batch) {
    return {args, static_cast<Element*>(args.c) + batch * args.stride_c};
  }

  // kVector neighbouring results from column n of row m on, which exist, as one access.
  template <int kVector>
  __device__ __forceinline__ void store(FloatVector<kVector> sums, int m, int n) const {
    Element* const to = c + m * args.ldc + n;
    const auto bias = bias_at<kVector>(m, n);
    if constexpr (kResult == kF32) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sums.v[v] *= args.alpha;
      if (args.beta != 0.0f) {
        const auto old = load_vector<kVector>(to);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums.v[v] = fmaf(args.beta, old.v[v], sums.v[v]);
      }
#pragma unroll
      for (int v = 0; v < kVector; ++v) sums.v[v] = finished(sums.v[v], bias.v[v]);
      store_vector(to, sums);
    } else if constexpr (kVector == 1) {
      const float old = args.beta != 0.0f ? from_half<kResult>(*to) : 0.0f;
      *to = to_half<kResult>(finished(scaled(sums.v[0], old), bias.v[0]));
    } else {
      HalfVector<kVector> out = {};
      if (args.beta != 0.0f) out = load_halves<kVector>(to);
#pragma unroll
      for (int v = 0; v < kVector; v += 2) {
        const float first = scaled(sums.v[v], from_half<kResult>(out.get(v)));
        const float second = scaled(sums.v[v + 1], from_half<kResult>(out.get(v + 1)));
        out.words[v / 2] =
            to_half_pair<kResult>(finished(first, bias.v[v]), finished(second, bias.v[v + 1]));
      }
      store_halves(to, out);
    }
  }

  // kCount neighbouring results from column n of row m on, a row that exists, as far as it has
  // them; kAligned is the number of elements that an access may have. `corrected` is given each sum
  // and the row and column of C that it is for.
  template <int kAligned, int kCount, class Corrected = AsSummed>
  __device__ __forceinline__ void store_row(const FloatVector<kCount>& sums, int m, int n,
                                            Corrected corrected = {}) const {
    constexpr int kVector = kAligned < kCount ? kAligned : kCount;
#pragma unroll
    for (int j = 0; j < kCount; j += kVector) {
      if (n + j >= args.n) continue;
      FloatVector<kVector> part;
#pragma unroll
      for (int v = 0; v < kVector; ++v) part.v[v] = corrected(sums.v[j + v], m, n + j + v);
      store<kVector>(part, m, n + j);
    }
  }

 private:
  __device__ __forceinline__ float scaled(float sum, float old) const {
    return args.beta != 0.0f ? fmaf(args.beta, old, args.alpha * sum) : args.alpha * sum;
  }

  // What comes after alpha and beta.
  static __device__ __forceinline__ float finished(float value, float bias) {
    if constexpr (kEpilogue.bias != kNoBias) value += bias;
    return activated<kEpilogue.activation>(value);
  }

  // Of kVector neighbouring results from column n of row m on; zeros where there is none.
  template <int kVector>
  __device__ __forceinline__ FloatVector<kVector> bias_at(int m, int n) const {
    const auto* bias = static_cast<const Element*>(args.bias);
    FloatVector<kVector> out = {};
    if constexpr (kEpilogue.bias == kBiasPerColumn) {
      if (is_aligned<kVector>(bias)) return constants<kVector>(bias + n);
#pragma unroll
      for (int v = 0; v < kVector; ++v) out.v[v] = constants<1>(bias + n + v).v[0];
    } else if constexpr (kEpilogue.bias == kBiasPerRow) {
      const float of_row = constants<1>(bias + m).v[0];
#pragma unroll
      for (int v = 0; v < kVector; ++v) out.v[v] = of_row;
    }
    return out;
  }

  template <int kVector>
  static __device__ __forceinline__ FloatVector<kVector> constants(const Element* from) {
    return load_elements<kResult, kVector, AsConstant>(from);
  }

  // For accesses of kVector elements; columns are multiples of them.
  template <int kVector>
  static __device__ __forceinline__ bool is_aligned(const Element* bias) {
    constexpr unsigned long long kBytes = kVector * sizeof(Element);
    return kVector == 1 || reinterpret_cast<unsigned long long>(bias) % kBytes == 0;
  }
};

// Adds alpha * sums to C, in any order with other blocks: for kernels whose prepare() has stored
// the rest. Of f32 results; 16-bit ones would be rounded by each addition.
struct AtomicWriter {
  const GemmArgs& args;
  float* c;  // the batch entry's first element

  static __device__ __forceinline__ AtomicWriter of(const GemmArgs& args, int batch) {
    return {args, static_cast<float*>(args.c) + batch * args.stride_c};
  }

  // As ResultWriter's; the alignment does not matter.
  template <int kAligned, int kCount>
  __device__ __forceinline__ void store_row(const FloatVector<kCount>& sums, int m, int n,
                                            AsSummed = {}) const {
#pragma unroll
    for (int v = 0; v < kCount; ++v) {
      if (n + v < args.n) atomicAdd(c + m * args.ldc + n + v, args.alpha * sums.v[v]);
    }
  }
};

}  // namespace gemmtune
