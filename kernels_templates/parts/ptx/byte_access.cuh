#pragma once

#include "parts/shared/element_types.h"

// Elements of e4m3 and e5m2 as bits (PTX ISA, "cvt"; sm_89 and up).

namespace gemmtune {

// Rounded to the nearest; too large numbers become the largest.
template <ElementType kType>
__device__ __forceinline__ unsigned char to_byte(float x) {
  static_assert(kType == kE4m3 || kType == kE5m2, "8-bit types are e4m3 and e5m2");
  unsigned short pair;  // the second operand becomes the lower byte
  if constexpr (kType == kE4m3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
  }
  return static_cast<unsigned char>(pair);
}

}  // namespace gemmtune
