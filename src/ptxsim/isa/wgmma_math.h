// The arithmetic of one warp's part of a wgmma: 16 rows of the result.
//
// Its numeric behaviour is that of mma_math.h: exact products, added to the accumulator in
// ascending k in binary64, rounded once to the accumulator's type. (Sums of 8-bit products have
// fewer bits on an H100 or H200.) Sums of s8 are exact, and cut to 32 bits at the end.
#pragma once

#include <cstdint>

namespace gemmtune::ptxsim {

enum class WgmmaElement : uint8_t { f16, bf16, tf32, e4m3, e5m2, s8 };

inline constexpr uint32_t kWgmmaRows = 16;  // of a warp
inline constexpr uint32_t kMostWgmmaN = 256;
inline constexpr uint32_t kMostWgmmaK = 32;

constexpr uint32_t bytes_of(WgmmaElement element) {
  return element == WgmmaElement::tf32                                   ? 4
         : element == WgmmaElement::f16 || element == WgmmaElement::bf16 ? 2
                                                                         : 1;
}

struct WgmmaOperands {
  double a[kWgmmaRows][kMostWgmmaK];
  double b[kMostWgmmaK][kMostWgmmaN];
  double d[kWgmmaRows][kMostWgmmaN];
};

// d (16 x n) += a (16 x k) * b (k x n); n is a multiple of 8.
void multiply_add(uint32_t n, uint32_t k, WgmmaOperands& operands);

// `count` values, times -1 where `negates`. Of tf32 the low 13 bits are ignored.
void widen(WgmmaElement element, const void* values, uint32_t count, bool negates, double* out);

}  // namespace gemmtune::ptxsim
