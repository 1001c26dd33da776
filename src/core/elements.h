#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

// Elements of each type as values and as they lie in memory. Rounding is to the nearest, ties to
// even; too large becomes infinity; a NaN stays one and keeps its sign and the upper bits of its
// payload.

namespace gemmtune {

uint16_t f16_bits(float value);
float f16_value(uint16_t bits);

uint16_t bf16_bits(float value);
float bf16_value(uint16_t bits);

// The value nearest to `value` that the type has.
float rounded(float value, DataType type);

// `values` rounded to the type, in memory order (little-endian), size_bytes(type) each.
std::vector<std::byte> encode(std::span<const float> values, DataType type);

// What encode() made; the size of `bytes` is a multiple of size_bytes(type).
std::vector<float> decode(std::span<const std::byte> bytes, DataType type);

}  // namespace gemmtune
