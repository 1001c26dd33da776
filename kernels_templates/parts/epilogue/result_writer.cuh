#pragma once

#include "parts/epilogue/activation.cuh"
#include "parts/ptx/half_access.cuh"
#include "parts/ptx/integer_bits.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/epilogue.h"
#include "parts/shared/gemm_args.h"

// The one place where sums over all of k become results:
//
//     C = activation(alpha * sum + beta * C + bias)
//
// in f32, rounded once to C's type, or in i32 modulo 2^32. C is read only when beta is not 0 (it
// may hold NaN otherwise), and nothing outside the m x n matrix is touched. Strategies and
// reductions decide which thread stores what, and in which order.

namespace gemmtune {

// The sums are what they are.
struct AsSummed {
  static constexpr bool kCorrects = false;
  __device__ __forceinline__ float operator()(float sum, int, int) const { return sum; }
};

// kCount neighbouring elements of a type as they lie in memory, loaded as one access, and as f32.
template <ElementType kType, int kCount, bool kHas32Bits = has_32_bits(kType)>
struct StoredVector {
  HalfVector<kCount> elements;

  template <class Read = AsWritten>
  static __device__ __forceinline__ StoredVector load(const unsigned short* from) {
    return {load_halves<kCount, Read>(from)};
  }
  // Sets element i of a vector of zeros.
  __device__ __forceinline__ void set(int i, unsigned short bits) {
    elements.words[i / 2] |= static_cast<unsigned>(bits) << (16 * (i % 2));
  }
  __device__ __forceinline__ unsigned short bits(int i) const { return elements.get(i); }
  __device__ __forceinline__ float get(int i) const { return from_half<kType>(bits(i)); }
};
template <ElementType kType, int kCount>
struct StoredVector<kType, kCount, true> {
  FloatVector<kCount> elements;

  template <class Read = AsWritten>
  static __device__ __forceinline__ StoredVector load(const float* from) {
    return {load_vector<kCount, Read>(from)};
  }
  __device__ __forceinline__ void set(int i, float x) { elements.v[i] = x; }
  __device__ __forceinline__ float bits(int i) const { return elements.v[i]; }
  __device__ __forceinline__ float get(int i) const { return bits(i); }
};

template <ElementType kType, int kCount>
__device__ __forceinline__ FloatVector<kCount> load_elements(
    const typename StoredElement<kType>::Type* from) {
  const auto stored = StoredVector<kType, kCount>::load(from);
  FloatVector<kCount> out;
#pragma unroll
  for (int i = 0; i < kCount; ++i) out.v[i] = stored.get(i);
  return out;
}

template <Epilogue kEpilogue, ElementType kResult = kF32>
struct ResultWriter {
  using Element = typename StoredElement<kResult>::Type;
  static constexpr bool kHasColumnBias = kEpilogue.bias == kBiasPerColumn;
  template <int kCount>
  using BiasVector = StoredVector<kResult, kCount>;

  const GemmArgs& args;
  Element* c;  // the batch entry's first element

  // Of batch entry `batch` of C.
  static __device__ __forceinline__ ResultWriter of(const GemmArgs& args, int batch) {
    return {args, static_cast<Element*>(args.c) + batch * args.stride_c};
  }

  // kVector neighbouring results from column n of row m on, which exist, as one access.
  template <int kVector>
  __device__ __forceinline__ void store(const FloatVector<kVector>& sums, int m, int n) const {
    store(sums, m, n, column_bias<kVector>(n));
  }

  // The same with what column_bias<kVector>(n) returned, for callers that store several rows.
  template <int kVector>
  __device__ __forceinline__ void store(FloatVector<kVector> sums, int m, int n,
                                        const BiasVector<kVector>& of_columns) const {
    Element* const to = c + m * args.ldc + n;
    const float of_row = row_bias(m);
    const auto bias = [&](int v) {
      return kEpilogue.bias == kBiasPerRow ? of_row : of_columns.get(v);
    };
    if constexpr (kResult == kI32) {
      FloatVector<kVector> old = {};
      if (args.beta != 0.0f) old = load_vector<kVector>(to);
#pragma unroll
      for (int v = 0; v < kVector; ++v)
        sums.v[v] = integer_result(args.alpha, sums.v[v], args.beta, old.v[v]);
      store_vector<kVector>(to, sums);
    } else if constexpr (kResult == kF32) {
#pragma unroll
      for (int v = 0; v < kVector; ++v) sums.v[v] *= args.alpha;
      if (args.beta != 0.0f) {
        const auto old = load_vector<kVector>(to);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums.v[v] = fmaf(args.beta, old.v[v], sums.v[v]);
      }
#pragma unroll
      for (int v = 0; v < kVector; ++v) sums.v[v] = finished(sums.v[v], bias(v));
      store_vector<kVector>(to, sums);
    } else if constexpr (kVector == 1) {
      const float old = args.beta != 0.0f ? from_half<kResult>(*to) : 0.0f;
      *to = to_half<kResult>(finished(scaled(sums.v[0], old), bias(0)));
    } else if (args.beta != 0.0f) {
      store_halves<kVector>(to, pairs<true>(sums, load_halves<kVector>(to), bias));
    } else {
      store_halves<kVector>(to, pairs<false>(sums, HalfVector<kVector>{}, bias));
    }
  }

  // kCount neighbouring results from column n of row m on, a row that exists, as far as it has
  // them; kAligned is the number of elements that an access may have. `corrected` is given each sum
  // and the row and column of C that it is for.
  template <int kAligned, int kCount, class Corrected = AsSummed>
  __device__ __forceinline__ void store_row(const FloatVector<kCount>& sums, int m, int n,
                                            Corrected corrected = {}) const {
    store_row<kAligned>(sums, m, n, column_biases<kAligned, kCount>(n), corrected);
  }

  // The same with what column_biases<kAligned, kCount>(n) returned.
  template <int kAligned, int kCount, class Corrected = AsSummed>
  __device__ __forceinline__ void store_row(const FloatVector<kCount>& sums, int m, int n,
                                            const BiasVector<kCount>& of_columns,
                                            Corrected corrected = {}) const {
    constexpr int kVector = kAligned < kCount ? kAligned : kCount;
#pragma unroll
    for (int j = 0; j < kCount; j += kVector) {
      if (n + j >= args.n) continue;
      FloatVector<kVector> part;
      BiasVector<kVector> bias = {};
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        part.v[v] = corrected(sums.v[j + v], m, n + j + v);
        if constexpr (kEpilogue.bias == kBiasPerColumn) bias.set(v, of_columns.bits(j + v));
      }
      store<kVector>(part, m, n + j, bias);
    }
  }

  // Two neighbouring results, of what C held there and of their bias. kReadsC says whether beta is
  // not 0: known beforehand, it saves most of the instructions.
  template <bool kReadsC>
  __device__ __forceinline__ FloatVector<2> results(const FloatVector<2>& sums,
                                                    const FloatVector<2>& old,
                                                    const FloatVector<2>& bias) const {
    FloatVector<2> values;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      if constexpr (kResult == kI32) {
        values.v[v] = integer_result(args.alpha, sums.v[v], kReadsC ? args.beta : 0.0f, old.v[v]);
      } else {
        values.v[v] = args.alpha * sums.v[v];
        if constexpr (kReadsC) values.v[v] = fmaf(args.beta, old.v[v], values.v[v]);
        values.v[v] = finished(values.v[v], bias.v[v]);
      }
    }
    return values;
  }

  // The same of 16 bits, as they are stored together.
  template <bool kReadsC>
  __device__ __forceinline__ unsigned pair(const FloatVector<2>& sums, const HalfVector<2>& old,
                                           const FloatVector<2>& bias) const {
    const FloatVector<2> before = {from_half<kResult>(old.get(0)), from_half<kResult>(old.get(1))};
    const FloatVector<2> values = results<kReadsC>(sums, before, bias);
    return to_half_pair<kResult>(values.v[0], values.v[1]);
  }

  // Of kVector neighbouring columns from n on, which exist; zeros where there is no such bias.
  template <int kVector>
  __device__ __forceinline__ BiasVector<kVector> column_bias(int n) const {
    BiasVector<kVector> out = {};
    if constexpr (kEpilogue.bias == kBiasPerColumn) {
      const auto* bias = static_cast<const Element*>(args.bias);
      if (is_aligned<kVector>(bias))
        return BiasVector<kVector>::template load<AsConstant>(bias + n);
#pragma unroll
      for (int v = 0; v < kVector; ++v) out.set(v, AsConstant::of(bias + n + v));
    }
    return out;
  }

  // Of kCount columns from n on, as far as C has them, which is in whole accesses of kAligned.
  template <int kAligned, int kCount>
  __device__ __forceinline__ BiasVector<kCount> column_biases(int n) const {
    constexpr int kVector = kAligned < kCount ? kAligned : kCount;
    BiasVector<kCount> out = {};
    if constexpr (kEpilogue.bias == kBiasPerColumn) {
#pragma unroll
      for (int j = 0; j < kCount; j += kVector) {
        if (n + j >= args.n) continue;
        const auto part = column_bias<kVector>(n + j);
#pragma unroll
        for (int v = 0; v < kVector; ++v) out.set(j + v, part.bits(v));
      }
    }
    return out;
  }

  // 0 where there is no such bias.
  __device__ __forceinline__ float row_bias(int m) const {
    if constexpr (kEpilogue.bias != kBiasPerRow) return 0.0f;
    return BiasVector<1>::template load<AsConstant>(static_cast<const Element*>(args.bias) + m)
        .get(0);
  }

 private:
  // bias(v) is that of element v.
  template <bool kReadsC, int kVector, class BiasOf>
  __device__ __forceinline__ HalfVector<kVector> pairs(const FloatVector<kVector>& sums,
                                                       const HalfVector<kVector>& old,
                                                       BiasOf bias) const {
    HalfVector<kVector> out;
#pragma unroll
    for (int v = 0; v < kVector; v += 2) {
      out.words[v / 2] =
          pair<kReadsC>({sums.v[v], sums.v[v + 1]}, {old.words[v / 2]}, {bias(v), bias(v + 1)});
    }
    return out;
  }

  __device__ __forceinline__ float scaled(float sum, float old) const {
    return args.beta != 0.0f ? fmaf(args.beta, old, args.alpha * sum) : args.alpha * sum;
  }

  // What comes after alpha and beta.
  static __device__ __forceinline__ float finished(float value, float bias) {
    if constexpr (kEpilogue.bias != kNoBias) value += bias;
    return activated<kEpilogue.activation>(value);
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

  // As ResultWriter's; neither the alignment nor a bias matters.
  template <int kAligned, int kCount>
  __device__ __forceinline__ AsSummed column_biases(int) const {
    return {};
  }
  template <int kAligned, int kCount, class... Ignored>
  __device__ __forceinline__ void store_row(const FloatVector<kCount>& sums, int m, int n,
                                            const Ignored&...) const {
#pragma unroll
    for (int v = 0; v < kCount; ++v) {
      if (n + v < args.n) atomicAdd(c + m * args.ldc + n + v, args.alpha * sums.v[v]);
    }
  }
};

}  // namespace gemmtune
