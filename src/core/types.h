#pragma once

#include <span>
#include <string_view>

#include "core/error.h"

namespace gemmtune {

// Element type of an operand. `e4m3` and `e5m2` are the 8-bit ones of the OCP's specification: a
// sign, 4 or 5 bits of exponent, 3 or 2 of fraction. `i8` and `i32` are integers. Those of 8 bits
// are of A and B only, i32 of sums and results of i8 only.
enum class DataType { f32, f16, bf16, e4m3, e5m2, i8, i32 };

// How products and sums are formed. `ieee` is plain fused multiply-add in the accumulator type; the
// others trade accuracy for tensor-core speed and are never chosen unless asked for. `f16` rounds
// f32 operands to f16: what is beyond 65504 becomes infinite. `bf16x6` and `bf16x9` take f32
// operands as sums of three bf16 values, and the six largest or all nine products of those. Tensor
// cores keep few bits of sums of 8-bit products: with `ieee` these are added to f32 sums every 128
// of k at the latest, with `fast_accum` at the end only. Sums of i8 products are exact modulo 2^32.
enum class MathMode { ieee, tf32, tf32x3, f16, bf16x6, bf16x9, fast_accum };

std::string_view to_string(DataType type);
std::string_view to_string(MathMode math);

// Parse the names users type ("f32", "3xtf32"). The error lists the valid names, nearest first.
Expected<DataType> parse_data_type(std::string_view text);
Expected<MathMode> parse_math_mode(std::string_view text);

// Whether a mode forms f32 products as sums of several products of tensor cores, as exactly as f32
// is: 3xtf32, bf16x6 and bf16x9.
constexpr bool is_split(MathMode mode) {
  return mode == MathMode::tf32x3 || mode == MathMode::bf16x6 || mode == MathMode::bf16x9;
}
// One of these, by its name; a usage error that names them if it is none.
Expected<MathMode> parse_split_mode(std::string_view text);

std::span<const DataType> all_data_types();
int size_bytes(DataType type);
// e4m3 and e5m2.
constexpr bool is_fp8(DataType type) {
  return type == DataType::e4m3 || type == DataType::e5m2;
}
constexpr bool is_8_bit(DataType type) {
  return is_fp8(type) || type == DataType::i8;
}

// The other floating-point type of as many bits: bf16 of f16, e5m2 of e4m3 and back; any other
// itself. Kernels for both differ in their instructions' names, and hardly in their times.
constexpr DataType other_type_as_wide(DataType type) {
  switch (type) {
    case DataType::f16:
      return DataType::bf16;
    case DataType::bf16:
      return DataType::f16;
    case DataType::e4m3:
      return DataType::e5m2;
    case DataType::e5m2:
      return DataType::e4m3;
    case DataType::f32:
    case DataType::i8:
    case DataType::i32:
      break;
  }
  return type;
}

// Of the sums, where nothing else is asked for.
constexpr DataType usual_accumulator(DataType type) {
  return type == DataType::i8 ? DataType::i32 : DataType::f32;
}

// Of C, where nothing else is asked for: that of A and B, bf16 for e4m3 and e5m2, i32 for i8.
constexpr DataType usual_result(DataType type) {
  if (type == DataType::i8) return DataType::i32;
  return is_fp8(type) ? DataType::bf16 : type;
}

}  // namespace gemmtune
