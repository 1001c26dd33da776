#pragma once

// tf32: f32 whose lower 13 bits are zeros.

namespace gemmtune {

__device__ __forceinline__ float nearest_tf32(float x) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return __uint_as_float(rounded);
}

// The same for an operand of wgmma, which ignores the lower 13 bits: here these may be anything.
__device__ __forceinline__ float nearest_tf32_of_wgmma(float x) {
  constexpr unsigned kHalf = 0x1000;  // of the last bit of tf32
  unsigned rounded = __float_as_uint(x);
  // By hand: cvt would clear the lower bits, which takes twice the instructions.
  asm("{.reg .pred finite; setp.lt.f32 finite, %1, 0f7F800000; @finite add.u32 %0, %0, %2;}"
      : "+r"(rounded)
      : "f"(fabsf(x)), "n"(kHalf));
  return __uint_as_float(rounded);
}

}  // namespace gemmtune
