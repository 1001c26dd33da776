#include "core/elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

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

// In memory order, each as the bits that `bits_of` makes of it.
template <class Bits>
std::vector<std::byte> encoded(std::span<const float> values, Bits (*bits_of)(float)) {
  std::vector<std::byte> out(values.size() * sizeof(Bits));
  for (size_t i = 0; i < values.size(); ++i) {
    const Bits bits = bits_of(values[i]);
    std::memcpy(out.data() + i * sizeof(bits), &bits, sizeof(bits));
  }
  return out;
}

template <class Bits>
std::vector<float> decoded(std::span<const std::byte> bytes, float (*value_of)(Bits)) {
  std::vector<float> values(bytes.size() / sizeof(Bits));
  for (size_t i = 0; i < values.size(); ++i) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + i * sizeof(bits), sizeof(bits));
    values[i] = value_of(bits);
  }
  return values;
}

// How a type of 8 bits is laid out: a sign, an exponent, and so many bits of fraction.
struct ByteFormat {
  int fraction_bits;
  int smallest_exponent;  // of a normal number
  uint32_t overflow;      // what too large numbers become
  uint32_t nan;
};
constexpr ByteFormat kE4m3{3, -6, 0x7e, 0x7f};
constexpr ByteFormat kE5m2{2, -14, 0x7c, 0x7e};

uint8_t byte_bits(float value, const ByteFormat& format) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 24 & 0x80;
  const uint32_t magnitude = bits & ~kSignMask;
  if (magnitude > kInfinity) {
    const uint32_t payload = magnitude >> (23 - format.fraction_bits) & 0x7f;
    return static_cast<uint8_t>(sign | format.nan | (payload & ((1U << format.fraction_bits) - 1)));
  }
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int dropped = 23 - format.fraction_bits;
  uint32_t out = 0;
  if (exponent >= format.smallest_exponent) {
    // Rebias; a carry out of the mantissa rightly raises the exponent.
    const int rebias = 126 + format.smallest_exponent;
    out = rounded_shift(magnitude - (static_cast<uint32_t>(rebias) << 23), dropped);
  } else if (exponent >= format.smallest_exponent - format.fraction_bits - 1) {
    // Subnormal: the implicit bit becomes explicit.
    out = rounded_shift((magnitude & 0x7fffff) | 0x800000,
                        dropped + format.smallest_exponent - exponent);
  }
  return static_cast<uint8_t>(sign | std::min(out, format.overflow));
}

// The nearest integer of the type, 0 for NaN.
template <class Integer>
Integer nearest_integer(float value) {
  if (std::isnan(value)) return 0;
  constexpr double kLeast = std::numeric_limits<Integer>::min();
  constexpr double kMost = std::numeric_limits<Integer>::max();
  const double whole = std::nearbyint(static_cast<double>(value));
  return static_cast<Integer>(std::clamp(whole, kLeast, kMost));
}

template <class Integer>
float f32_of(Integer element) {
  return static_cast<float>(element);
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

uint8_t e4m3_bits(float value) {
  return byte_bits(value, kE4m3);
}
uint8_t e5m2_bits(float value) {
  return byte_bits(value, kE5m2);
}

int8_t i8_element(float value) {
  return nearest_integer<int8_t>(value);
}
int32_t i32_element(float value) {
  return nearest_integer<int32_t>(value);
}

float e4m3_value(uint8_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x80) << 24;
  const uint32_t magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return std::bit_cast<float>(sign | kInfinity | 0x400000);
  if (magnitude >= 8) return std::bit_cast<float>(sign | ((magnitude << 20) + (120U << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-9F;
  return sign != 0 ? -subnormal : subnormal;
}

float rounded(float value, DataType type) {
  switch (type) {
    case DataType::f32:
      break;
    case DataType::f16:
      return f16_value(f16_bits(value));
    case DataType::bf16:
      return bf16_value(bf16_bits(value));
    case DataType::e4m3:
      return e4m3_value(e4m3_bits(value));
    case DataType::e5m2:
      return e5m2_value(e5m2_bits(value));
    case DataType::i8:
      return f32_of(i8_element(value));
    case DataType::i32:
      return f32_of(i32_element(value));
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
    case DataType::e4m3:
      return encoded(values, e4m3_bits);
    case DataType::e5m2:
      return encoded(values, e5m2_bits);
    case DataType::i8:
      return encoded(values, i8_element);
    case DataType::i32:
      return encoded(values, i32_element);
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
    case DataType::e4m3:
      return decoded(bytes, e4m3_value);
    case DataType::e5m2:
      return decoded(bytes, e5m2_value);
    case DataType::i8:
      return decoded(bytes, f32_of<int8_t>);
    case DataType::i32:
      return decoded(bytes, f32_of<int32_t>);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace gemmtune
