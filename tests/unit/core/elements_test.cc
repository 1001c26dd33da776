#include "core/elements.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace gemmtune {
namespace {

uint16_t toolkit_bits(float value) {
  return static_cast<__half_raw>(__float2half_rn(value)).x;
}

float from_half(uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

uint16_t toolkit_bf16(float value) {
  return static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)).x;
}

TEST_CASE("every half converts to itself, and what lies between rounds as the toolkit rounds") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = from_half(half);
    if (std::isnan(value)) continue;
    if (f16_bits(value) != half) ++wrong;
    const float next = from_half(static_cast<uint16_t>(half + 1));
    if (!std::isfinite(value) || std::isnan(next) || std::signbit(value) != std::signbit(next)) {
      continue;
    }
    const float middle = std::isinf(next) ? std::copysign(65520.0F, value) : (value + next) / 2;
    for (const float probe :
         {middle, std::nextafter(middle, value), std::nextafter(middle, next)}) {
      if (f16_bits(probe) != toolkit_bits(probe)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("extremes") {
  CHECK(f16_bits(1.0F) == 0x3c00);
  CHECK(f16_bits(-2.0F) == 0xc000);
  CHECK(f16_bits(65504.0F) == 0x7bff);
  CHECK(f16_bits(65520.0F) == 0x7c00);
  CHECK(f16_bits(1e30F) == 0x7c00);
  CHECK(f16_bits(-std::numeric_limits<float>::infinity()) == 0xfc00);
  CHECK(f16_bits(std::numeric_limits<float>::denorm_min()) == 0);
  CHECK(f16_bits(-0.0F) == 0x8000);
  CHECK((f16_bits(std::numeric_limits<float>::quiet_NaN()) & 0x7fff) > 0x7c00);
  // Random bit patterns.
  uint32_t state = 1;
  int wrong = 0;
  for (int i = 0; i < 1000000; ++i) {
    state = state * 1664525 + 1013904223;
    const float value = std::bit_cast<float>(state);
    if (std::isnan(value)) continue;
    wrong += f16_bits(value) != toolkit_bits(value) ? 1 : 0;
    wrong += bf16_bits(value) != toolkit_bf16(value) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

// The nearest of a byte's values, ties to the even one, by search.
uint8_t nearest_byte(float value, float (*value_of)(uint8_t), uint8_t largest) {
  uint8_t best = 0;
  for (int bits = 0; bits <= largest; ++bits) {
    const auto byte = static_cast<uint8_t>(bits);
    const float off = std::abs(std::abs(value) - value_of(byte));
    const float least = std::abs(std::abs(value) - value_of(best));
    if (off < least || (off == least && byte % 2 == 0)) best = byte;
  }
  return static_cast<uint8_t>(best | (std::signbit(value) ? 0x80 : 0));
}

TEST_CASE("8-bit types: every value, what lies between, and what is too large") {
  for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
    const bool is_e4m3 = type == DataType::e4m3;
    const auto bits_of = is_e4m3 ? e4m3_bits : e5m2_bits;
    const auto value_of = is_e4m3 ? e4m3_value : e5m2_value;
    const uint8_t largest = is_e4m3 ? 0x7e : 0x7b;
    int wrong = 0;
    for (int bits = 0; bits <= largest; ++bits) {
      const float value = value_of(static_cast<uint8_t>(bits));
      wrong += bits_of(value) != bits || bits_of(-value) != (bits | 0x80) ? 1 : 0;
      if (bits == largest) break;
      const float middle = (value + value_of(static_cast<uint8_t>(bits + 1))) / 2;
      for (const float probe :
           {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F), -middle}) {
        wrong += bits_of(probe) != nearest_byte(probe, value_of, largest) ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
    CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN(), type)));
    CHECK(bits_of(std::numeric_limits<float>::denorm_min()) == 0);
    CHECK(bits_of(-0.0F) == 0x80);
  }
  CHECK(e4m3_value(0x7e) == 448.0F);
  CHECK(e4m3_value(0x01) == 0x1p-9F);
  CHECK(std::isnan(e4m3_value(0x7f)));
  CHECK(e5m2_value(0x7b) == 57344.0F);
  CHECK(e5m2_value(0x01) == 0x1p-16F);
  // e4m3 has no infinity.
  CHECK(rounded(1e9F, DataType::e4m3) == 448.0F);
  CHECK(rounded(-std::numeric_limits<float>::infinity(), DataType::e4m3) == -448.0F);
  CHECK(rounded(61439.0F, DataType::e5m2) == 57344.0F);
  CHECK(std::isinf(rounded(61440.0F, DataType::e5m2)));
}

TEST_CASE("8-bit types: what was decoded encodes to the same bytes") {
  std::vector<std::byte> bytes(256);
  for (size_t bits = 0; bits < bytes.size(); ++bits) bytes[bits] = static_cast<std::byte>(bits);
  for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
    const std::vector<float> values = decode(bytes, type);
    const std::vector<std::byte> again = encode(values, type);
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (std::isnan(values[i])) {
        CHECK(std::isnan(decode(again, type)[i]));
      } else {
        CHECK(again[i] == bytes[i]);
      }
    }
  }
}

TEST_CASE("integers: the nearest, the ends of the type, and what was decoded") {
  for (int value = -128; value <= 127; ++value) {
    const auto exact = static_cast<float>(value);
    CHECK(i8_element(exact) == value);
    if (value < 127) CHECK(i8_element(exact + 0.75F) == value + 1);
    CHECK(decode(encode(std::vector<float>{exact}, DataType::i8), DataType::i8)[0] == exact);
  }
  CHECK(i8_element(0.5F) == 0);  // ties to even
  CHECK(i8_element(1.5F) == 2);
  CHECK(i8_element(1000) == 127);
  CHECK(i8_element(-INFINITY) == -128);
  CHECK(i8_element(NAN) == 0);
  CHECK(i32_element(3e9F) == std::numeric_limits<int32_t>::max());
  CHECK(i32_element(-3e9F) == std::numeric_limits<int32_t>::min());
  CHECK(i32_element(NAN) == 0);
  CHECK(rounded(-7.4F, DataType::i32) == -7);
  CHECK(rounded(200, DataType::i8) == 127);
  const std::vector<float> values = {-16'777'216, -1, 0, 8'000'003, 16'777'215};
  CHECK(decode(encode(values, DataType::i32), DataType::i32) == values);
  CHECK(encode(std::vector<float>{-2}, DataType::i32) ==
        std::vector<std::byte>{std::byte{0xFE}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}});
}

// NaNs too: what a kernel must leave untouched is marked by them.
TEST_CASE("what was decoded encodes to the same bytes") {
  for (const DataType type : {DataType::f16, DataType::bf16}) {
    std::vector<std::byte> bytes(2 * 0x10000);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      bytes[2 * bits] = static_cast<std::byte>(bits);
      bytes[2 * bits + 1] = static_cast<std::byte>(bits >> 8);
    }
    const std::vector<float> values = decode(bytes, type);
    const std::vector<std::byte> again = encode(values, type);
    int wrong = 0;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const bool signals =
          std::isnan(values[bits]) && (bits & (type == DataType::f16 ? 0x200 : 0x40)) == 0;
      const bool same =
          bytes[2 * bits] == again[2 * bits] && bytes[2 * bits + 1] == again[2 * bits + 1];
      wrong += !signals && !same ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
  const std::vector<float> singles = {1.5F, -0.0F, 3e38F};
  CHECK(decode(encode(singles, DataType::f32), DataType::f32) == singles);
}

TEST_CASE("rounding to a type") {
  CHECK(rounded(0.1F, DataType::f32) == 0.1F);
  CHECK(rounded(2049.0F, DataType::f16) == 2048.0F);
  CHECK(rounded(257.0F, DataType::bf16) == 256.0F);
  CHECK(std::isinf(rounded(1e5F, DataType::f16)));
  CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN(), DataType::bf16)));
}

}  // namespace
}  // namespace gemmtune
