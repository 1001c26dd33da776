#include "core/elements.h"

#include <bit>
#include <cstring>

namespace gemmtune {
namespace {

constexpr uint32_t kInfinity = 0x7f800000;
constexpr uint32_t kSignMask = 0x80000000;

// value >> shift, rounded to the nearest, ties to even. 0 < shift < 32.
uint32_t rounded_shift(uint32_t value, int shift) {
  const uint32_t kept = value >> shift;
  const uint32_t rest = value & ((1U << shift) - 1);
  const uint32_t half = 1U << (shift - 1);
  return kept + static_cast<uint32_t>(rest > half || (rest == half && (kept & 1) != 0));
}

// In memory order, each as the 16 bits that `bits_of` makes of it.
template <class BitsOf>
std::vector<std::byte> encoded(std::span<const float> values, BitsOf bits_of) {
  std::vector<std::byte> out(values.size() * sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = bits_of(values[i]);
    std::memcpy(out.data() + i * sizeof(bits), &bits, sizeof(bits));
  }
  return out;
}

template <class ValueOf>
std::vector<float> decoded(std::span<const std::byte> bytes, ValueOf value_of) {
  std::vector<float> values(bytes.size() / sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    values[i] = value_of(bits);
  }
  return values;
}

}  // namespace

uint16_t f16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & ~kSignMask;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7e00 | (magnitude >> 13 & 0x3ff);
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

uint16_t bf16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & ~kSignMask) > kInfinity) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>(rounded_shift(bits, 16));
}

float rounded(float value, DataType type) {
  switch (type) {
    case DataType::f32:
      break;
    case DataType::f16:
      return f16_value(f16_bits(value));
    case DataType::bf16:
      return bf16_value(bf16_bits(value));
  }
  return value;
}

std::vector<std::byte> encode(std::span<const float> values, DataType type) {
  switch (type) {
    case DataType::f32:
      break;
    case DataType::f16:
      return encoded(values, f16_bits);
    case DataType::bf16:
      return encoded(values, bf16_bits);
  }
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

std::vector<float> decode(std::span<const std::byte> bytes, DataType type) {
  switch (type) {
    case DataType::f32:
      break;
    case DataType::f16:
      return decoded(bytes, f16_value);
    case DataType::bf16:
      return decoded(bytes, bf16_value);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace gemmtune
