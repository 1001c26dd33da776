#pragma once

#include "parts/ptx/memory_read.cuh"
#include "parts/shared/element_types.h"

// 16-bit elements as bits: conversions, and accesses of 1, 2, 4 or 8 of them as one instruction. By
// PTX, so that no header of the toolkit is needed (PTX ISA, "cvt").

namespace gemmtune {

// An element as it lies in memory.
template <ElementType kType>
struct StoredElement {
  using Type = unsigned short;
};
template <>
struct StoredElement<kF32> {
  using Type = float;
};
template <>
struct StoredElement<kI32> {
  using Type = float;  // its bits: integer_bits.cuh
};

template <ElementType kType>
__device__ __forceinline__ unsigned short to_half(float x) {
  static_assert(kType == kF16 || kType == kBf16, "16-bit types are f16 and bf16");
  unsigned short bits;
  if constexpr (kType == kF16) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  } else {
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
    const unsigned wide = __float_as_uint(x);
    const unsigned nearest = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
    bits = static_cast<unsigned short>(x != x ? 0x7fff : nearest);
#endif
  }
  return bits;
}

template <ElementType kType>
__device__ __forceinline__ float from_half(unsigned short bits) {
  if constexpr (kType == kF16) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  } else {
    static_assert(kType == kBf16, "16-bit types are f16 and bf16");
    return __uint_as_float(static_cast<unsigned>(bits) << 16);
  }
}

// Two elements in a register, the first in the lower half.
__device__ __forceinline__ unsigned pack_halves(unsigned short first, unsigned short second) {
  return static_cast<unsigned>(first) | static_cast<unsigned>(second) << 16;
}

template <ElementType kType>
__device__ __forceinline__ unsigned to_half_pair(float first, float second) {
#if __CUDA_ARCH__ >= 800
  static_assert(kType == kF16 || kType == kBf16, "16-bit types are f16 and bf16");
  unsigned pair;
  if constexpr (kType == kF16) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  }
  return pair;
#else
  return pack_halves(to_half<kType>(first), to_half<kType>(second));
#endif
}

// kWidth elements as they lie in memory.
template <int kWidth>
struct HalfVector {
  static constexpr int kWords = (kWidth + 1) / 2;
  unsigned words[kWords];

  __device__ __forceinline__ unsigned short get(int i) const {
    return static_cast<unsigned short>(words[i / 2] >> (16 * (i % 2)));
  }
};

template <int kWidth, class Read = AsWritten>
__device__ __forceinline__ HalfVector<kWidth> load_halves(const unsigned short* from) {
  HalfVector<kWidth> out;
  if constexpr (kWidth == 8) {
    const uint4 x = Read::of(reinterpret_cast<const uint4*>(from));
    out.words[0] = x.x, out.words[1] = x.y, out.words[2] = x.z, out.words[3] = x.w;
  } else if constexpr (kWidth == 4) {
    const uint2 x = Read::of(reinterpret_cast<const uint2*>(from));
    out.words[0] = x.x, out.words[1] = x.y;
  } else if constexpr (kWidth == 2) {
    out.words[0] = Read::of(reinterpret_cast<const unsigned*>(from));
  } else {
    static_assert(kWidth == 1, "vectors are of 1, 2, 4 or 8 elements");
    out.words[0] = Read::of(from);
  }
  return out;
}

template <int kWidth>
__device__ __forceinline__ void store_halves(unsigned short* to, const HalfVector<kWidth>& x) {
  if constexpr (kWidth == 8) {
    *reinterpret_cast<uint4*>(to) = make_uint4(x.words[0], x.words[1], x.words[2], x.words[3]);
  } else if constexpr (kWidth == 4) {
    *reinterpret_cast<uint2*>(to) = make_uint2(x.words[0], x.words[1]);
  } else {
    static_assert(kWidth == 2, "vectors are of 2, 4 or 8 elements");
    *reinterpret_cast<unsigned*>(to) = x.words[0];
  }
}

}  // namespace gemmtune
