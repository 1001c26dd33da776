#include "vendor/half.h"

#include <bit>

namespace gemmtune::vendor {
namespace {

// value >> shift, rounded to the nearest, ties to even. 0 < shift < 32.
uint32_t rounded_shift(uint32_t value, int shift) {
  const uint32_t kept = value >> shift;
  const uint32_t rest = value & ((1U << shift) - 1);
  const uint32_t half = 1U << (shift - 1);
  return kept + static_cast<uint32_t>(rest > half || (rest == half && (kept & 1) != 0));
}

}  // namespace

uint16_t half_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint32_t half = 0;
  if (magnitude > 0x7f800000) {
    half = 0x7fff;  // NaN
  } else if (exponent >= 16) {
    half = 0x7c00;  // too large, or infinity
  } else if (exponent >= -14) {
    // Rebias; a carry out of the mantissa rightly raises the exponent, up to infinity.
    half = rounded_shift(magnitude - (112U << 23), 13);
  } else if (exponent >= -25) {
    // Subnormal: the implicit bit becomes explicit.
    half = rounded_shift((magnitude & 0x7fffff) | 0x800000, -exponent - 1);
  }
  return static_cast<uint16_t>(sign | half);
}

}  // namespace gemmtune::vendor
