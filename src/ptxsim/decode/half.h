// Conversions between binary32/64 and the 16-bit formats and tf32, with the rounding stated.
// Source: IEEE 754-2019; PTX ISA, "Alternate Floating-Point Data Formats".
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/elements.h"

namespace gemmtune::ptxsim {

enum class Rounding : uint8_t { nearest_even, toward_zero, down, up, nearest_away };

inline constexpr uint32_t kNan32 = 0x7FFFFFFFU;  // the NaN that f32 instructions give
inline constexpr uint16_t kNan16 = 0x7FFFU;      // the NaN that f16 and bf16 instructions give

inline uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// Exact.
inline float half_to_float(uint16_t half) {
  return f16_value(half);
}
// The same for loops that are to be vectorised: the exponent is moved by adding to the bits,
// subnormals by a subtraction that normalises them.
inline float half_lane(uint32_t half) {
  const uint32_t shifted = (half & 0x7FFFU) << 13;
  const uint32_t exponent = shifted & 0x0F800000U;
  uint32_t bits = shifted + (112U << 23);
  bits += exponent == 0x0F800000U ? 112U << 23 : 0U;
  const float subnormal = float_of(bits + (1U << 23)) - float_of(113U << 23);
  const float magnitude = exponent == 0 ? subnormal : float_of(bits);
  return float_of(bits_of(magnitude) | (half & 0x8000U) << 16);
}
inline float bfloat_to_float(uint16_t value) {
  return bf16_value(value);
}

// Rounded to nearest even, as f32 instructions give it.
inline uint32_t float_result(double value) {
  const auto rounded = static_cast<float>(value);
  return rounded != rounded ? kNan32 : bits_of(rounded);
}

// Whether a magnitude whose discarded bits are `rest` (of a unit of 2 * half) rounds up.
inline bool rounds_up(uint32_t kept, uint32_t rest, uint32_t half, bool negative, Rounding mode) {
  switch (mode) {
    case Rounding::nearest_even:
      return rest > half || (rest == half && (kept & 1) != 0);
    case Rounding::nearest_away:
      return rest >= half;
    case Rounding::toward_zero:
      return false;
    case Rounding::down:
      return negative && rest != 0;
    case Rounding::up:
      return !negative && rest != 0;
  }
  return false;
}

// Overflow gives infinity, or the largest number when the mode rounds towards zero there.
inline uint16_t float_to_half(float value, Rounding mode = Rounding::nearest_even) {
  const uint32_t bits = bits_of(value);
  const bool negative = bits >> 31 != 0;
  const auto sign = static_cast<uint16_t>(negative ? 0x8000U : 0U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return kNan16;
  if (magnitude == 0x7F800000U) return sign | 0x7C00U;
  const auto exponent = static_cast<int32_t>(magnitude >> 23) - 127;
  uint32_t significand = magnitude & 0x7FFFFFU;
  if (exponent != -127) significand |= 0x800000U;
  // The result's unit in the last place is 2^(e - 10), at least 2^-24.
  const int32_t result_exponent = exponent < -14 ? -14 : exponent;
  const int32_t shift = 13 + (result_exponent - (exponent == -127 ? -126 : exponent));
  uint32_t kept = 0;
  uint32_t rest = 1;
  uint32_t half = 2;
  if (shift <= 25) {
    kept = significand >> shift;
    rest = significand & ((1U << shift) - 1);
    half = 1U << (shift - 1);
  } else {
    rest = significand != 0 ? 1 : 0;
  }
  if (rounds_up(kept, rest, half, negative, mode)) ++kept;
  uint32_t out = kept;  // subnormal: the carry into the exponent is right
  if (result_exponent > -14 || kept >= 0x400U) {
    out = (static_cast<uint32_t>(result_exponent + 14) << 10) + kept;
  }
  if (exponent > 15 || out >= 0x7C00U) {
    const bool to_largest = mode == Rounding::toward_zero ||
                            (mode == Rounding::down && !negative) ||
                            (mode == Rounding::up && negative);
    out = to_largest ? 0x7BFFU : 0x7C00U;
  }
  return static_cast<uint16_t>(sign | out);
}

inline uint16_t float_to_bfloat(float value, Rounding mode = Rounding::nearest_even) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return kNan16;
  const bool negative = bits >> 31 != 0;
  uint32_t kept = magnitude >> 16;
  if (rounds_up(kept, magnitude & 0xFFFFU, 0x8000U, negative, mode) && magnitude < 0x7F800000U) {
    ++kept;
  }
  return static_cast<uint16_t>((negative ? 0x8000U : 0U) | kept);
}

// cvt to tf32: 10 bits of fraction; the low 13 bits are zero. NaN, as measured on an H200 for
// 0x7FC00000: .rna keeps it, .rn and .rz give 0x7FFFE000. Of other NaNs .rna is taken to keep sign
// and upper bits.
inline float round_to_tf32(float value, Rounding mode = Rounding::nearest_away) {
  const uint32_t bits = bits_of(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return float_of(mode == Rounding::nearest_away ? (bits | 0x00400000U) & 0xFFFFE000U
                                                   : kNan32 & 0xFFFFE000U);
  }
  if (magnitude == 0x7F800000U) return value;
  uint32_t kept = magnitude >> 13;
  if (rounds_up(kept, magnitude & 0x1FFFU, 0x1000U, bits >> 31 != 0, mode)) ++kept;
  return float_of((bits & 0x80000000U) | kept << 13);
}

// Rounds to odd: a later rounding to 22 or fewer bits then gives what one rounding would.
inline float to_odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  uint32_t bits = bits_of(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return float_of(bits | 1U);
}

// a + b as a double whose last bit tells of what was cut off (round to odd).
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);  // exact, Knuth's two-sum
  auto bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || !std::isfinite(sum) || (bits & 1) != 0) return sum;
  // sum is even and wrong: its odd neighbour towards the true value
  const bool away = (error > 0) == (sum > 0);
  bits = away ? bits + 1 : bits - 1;
  return std::bit_cast<double>(bits);
}

inline uint16_t half_from_double(double value) {
  return float_to_half(to_odd_float(value));
}

}  // namespace gemmtune::ptxsim
