#include "ptxsim/isa/wgmma_math.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "ptxsim/decode/half.h"
#include "ptxsim/isa/target_clones.h"

namespace gemmtune::ptxsim {

GEMMTUNE_TARGET_CLONES
void multiply_add(uint32_t n, uint32_t k, WgmmaOperands& operands) {
  constexpr uint32_t kColumns = 8;  // every n is a multiple
  constexpr uint32_t kRows = 4;     // share what is loaded of b
  for (uint32_t column = 0; column < n; column += kColumns) {
    for (uint32_t row = 0; row < kWgmmaRows; row += kRows) {
      double sums[kRows][kColumns];
      for (uint32_t r = 0; r < kRows; ++r) {
        for (uint32_t j = 0; j < kColumns; ++j) sums[r][j] = operands.d[row + r][column + j];
      }
      for (uint32_t i = 0; i < k; ++i) {
        const double* b = &operands.b[i][column];
        for (uint32_t r = 0; r < kRows; ++r) {
          const double factor = operands.a[row + r][i];
          for (uint32_t j = 0; j < kColumns; ++j) sums[r][j] += factor * b[j];
        }
      }
      for (uint32_t r = 0; r < kRows; ++r) {
        for (uint32_t j = 0; j < kColumns; ++j) operands.d[row + r][column + j] = sums[r][j];
      }
    }
  }
}

namespace {

GEMMTUNE_TARGET_CLONES
void widen_halves(const uint16_t* values, uint32_t count, double sign, double* out) {
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = sign * static_cast<double>(half_lane(values[i]));
  }
}

GEMMTUNE_TARGET_CLONES
void widen_bfloats(const uint16_t* values, uint32_t count, double sign, double* out) {
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = sign * static_cast<double>(float_of(uint32_t{values[i]} << 16));
  }
}

GEMMTUNE_TARGET_CLONES
void widen_tf32(const uint32_t* values, uint32_t count, double sign, double* out) {
  for (uint32_t i = 0; i < count; ++i) {
    out[i] = sign * static_cast<double>(float_of(values[i] & 0xFFFFE000U));
  }
}

using ByteTable = std::array<double, 256>;

// No infinities; the largest magnitude's bits are NaN.
double e4m3_value(uint32_t bits) {
  const uint32_t exponent = bits >> 3 & 15;
  const auto fraction = static_cast<double>(bits & 7);
  if ((bits & 0x7F) == 0x7F) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, -9)
                               : std::ldexp(8 + fraction, static_cast<int>(exponent) - 10);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

const ByteTable& table_of(WgmmaElement element) {
  static const std::array<ByteTable, 3> tables = [] {
    std::array<ByteTable, 3> out = {};
    for (uint32_t i = 0; i < 256; ++i) {
      out[0][i] = e4m3_value(i);
      // the upper byte of an f16
      out[1][i] = half_to_float(static_cast<uint16_t>(i << 8));
      out[2][i] = static_cast<int8_t>(i);
    }
    return out;
  }();
  if (element == WgmmaElement::s8) return tables[2];
  return tables[element == WgmmaElement::e4m3 ? 0 : 1];
}

}  // namespace

void widen(WgmmaElement element, const void* values, uint32_t count, bool negates, double* out) {
  const double sign = negates ? -1.0 : 1.0;
  switch (element) {
    case WgmmaElement::f16:
      return widen_halves(static_cast<const uint16_t*>(values), count, sign, out);
    case WgmmaElement::bf16:
      return widen_bfloats(static_cast<const uint16_t*>(values), count, sign, out);
    case WgmmaElement::tf32:
      return widen_tf32(static_cast<const uint32_t*>(values), count, sign, out);
    default:
      break;
  }
  const ByteTable& table = table_of(element);
  const auto* bytes = static_cast<const uint8_t*>(values);
  for (uint32_t i = 0; i < count; ++i) out[i] = sign * table[bytes[i]];
}

}  // namespace gemmtune::ptxsim
