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

// kCount neighbouring elements, as one access that does not go through C's cache lines: nobody
// writes them while the kernel runs.
template <ElementType kType, int kCount>
__device__ __forceinline__ FloatVector<kCount> load_constants(
    const typename StoredElement<kType>::Type* from) {
  FloatVector<kCount> out;
  if constexpr (kCount == 1) {
    if constexpr (kType == kF32) {
      out.v[0] = __ldg(from);
    } else {
      out.v[0] = from_half<kType>(__ldg(from));
    }
  } else if constexpr (kType == kF32 && kCount == 2) {
    const float2 x = __ldg(reinterpret_cast<const float2*>(from));
    out.v[0] = x.x, out.v[1] = x.y;
  } else if constexpr (kType == kF32) {
    static_assert(kCount == 4, "accesses are of 16 bytes at most");
    const float4 x = __ldg(reinterpret_cast<const float4*>(from));
    out.v[0] = x.x, out.v[1] = x.y, out.v[2] = x.z, out.v[3] = x.w;
  } else {
    const auto x = load_constant_halves<kCount>(from);
#pragma unroll
    for (int i = 0; i < kCount; ++i) out.v[i] = from_half<kType>(x.get(i));
  }
  return out;
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

  // Four neighbouring results from column n of row m on, a row that exists, as far as it has them;
  // kAligned is the number of elements that an access may have. `corrected` is given each sum and
  // the row and column of C that it is for.
  template <int kAligned, class Corrected = AsSummed>
  __device__ __forceinline__ void store_row(const FloatVector<4>& sums, int m, int n,
                                            Corrected corrected = {}) const {
    constexpr int kVector = kAligned < 4 ? kAligned : 4;
#pragma unroll
    for (int j = 0; j < 4; j += kVector) {
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
      if (is_aligned<kVector>(bias)) return load_constants<kResult, kVector>(bias + n);
#pragma unroll
      for (int v = 0; v < kVector; ++v) out.v[v] = load_constants<kResult, 1>(bias + n + v).v[0];
    } else if constexpr (kEpilogue.bias == kBiasPerRow) {
      const float of_row = load_constants<kResult, 1>(bias + m).v[0];
#pragma unroll
      for (int v = 0; v < kVector; ++v) out.v[v] = of_row;
    }
    return out;
  }

  // For accesses of kVector elements; columns are multiples of them.
  template <int kVector>
  static __device__ __forceinline__ bool is_aligned(const Element* bias) {
    constexpr unsigned long long kBytes = kVector * sizeof(Element);
    return kVector == 1 || reinterpret_cast<unsigned long long>(bias) % kBytes == 0;
  }
};

}  // namespace gemmtune
