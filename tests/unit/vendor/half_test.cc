#include "vendor/half.h"

#include <cuda_fp16.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

using gemmtune::vendor::half_bits;

namespace {

uint16_t toolkit_bits(float value) {
  return static_cast<__half_raw>(__float2half_rn(value)).x;
}

float from_half(uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

}  // namespace

TEST_CASE("every half converts to itself, and what lies between rounds as the toolkit rounds") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) continue;
    if (half_bits(value) != half) ++wrong;
    const float next = from_half(static_cast<uint16_t>(half + 1));
    if (!std::isfinite(value) || std::isnan(next) || std::signbit(value) != std::signbit(next)) {
      continue;
    }
    const float middle = std::isinf(next) ? std::copysign(65520.0F, value) : (value + next) / 2;
    for (const float probe :
         {middle, std::nextafter(middle, value), std::nextafter(middle, next)}) {
      if (half_bits(probe) != toolkit_bits(probe)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("extremes") {
  CHECK(half_bits(1.0F) == 0x3c00);
  CHECK(half_bits(-2.0F) == 0xc000);
  CHECK(half_bits(65504.0F) == 0x7bff);
  CHECK(half_bits(65520.0F) == 0x7c00);
  CHECK(half_bits(1e30F) == 0x7c00);
  CHECK(half_bits(-std::numeric_limits<float>::infinity()) == 0xfc00);
  CHECK(half_bits(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(half_bits(-0.0F) == 0x8000);
  CHECK((half_bits(std::numeric_limits<float>::quiet_NaN()) & 0x7fff) > 0x7c00);
  // Random bit patterns.
  uint32_t state = 1;
  int wrong = 0;
  for (int i = 0; i < 1000000; ++i) {
    state = state * 1664525 + 1013904223;
    const float value = std::bit_cast<float>(state);
    if (!std::isnan(value) && half_bits(value) != toolkit_bits(value)) ++wrong;
  }
  CHECK(wrong == 0);
}
