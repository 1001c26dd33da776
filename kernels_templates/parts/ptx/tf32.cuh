#pragma once

// tf32: f32 whose lower 13 bits are zeros.

namespace gemmtune {

__device__ __forceinline__ float nearest_tf32(float x) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return __uint_as_float(rounded);
}

}  // namespace gemmtune
