#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

// Elements of each type as values and as they lie in memory. Rounding is to the nearest, ties to
// even; too large becomes infinity, or in e4m3, which has none, the largest number, 448, as
// cvt.satfinite does; a NaN stays one and keeps its sign and the upper bits of its payload, as far
// as the type has any. Of an integer type, what is too large becomes its largest number and NaN 0.

namespace gemmtune {

uint16_t f16_bits(float value);
// Exact. Inline, as the simulator converts in every instruction.
inline float f16_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) {
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  }
  if (magnitude >= 0x400) return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
  return sign != 0 ? -subnormal : subnormal;
}

uint16_t bf16_bits(float value);
// Exact.
inline float bf16_value(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint8_t e4m3_bits(float value);
uint8_t e5m2_bits(float value);
int8_t i8_element(float value);
int32_t i32_element(float value);
// Exact.
float e4m3_value(uint8_t bits);
inline float e5m2_value(uint8_t bits) {
  return f16_value(static_cast<uint16_t>(bits << 8));  // an f16 without the lower byte
}

// The value nearest to `value` that the type has.
float rounded(float value, DataType type);

// `values` rounded to the type, in memory order (little-endian), size_bytes(type) each.
std::vector<std::byte> encode(std::span<const float> values, DataType type);

// What encode() made; the size of `bytes` is a multiple of size_bytes(type). An i32 beyond 2^24
// becomes the nearest f32.
std::vector<float> decode(std::span<const std::byte> bytes, DataType type);

}  // namespace gemmtune
