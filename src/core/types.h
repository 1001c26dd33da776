#pragma once

#include <span>
#include <string_view>

#include "core/error.h"

namespace gemmtune {

// Element type of an operand.
enum class DataType { f32, f16, bf16 };

// How products and sums are formed. `ieee` is plain fused multiply-add in the accumulator type; the
// others trade accuracy for tensor-core speed and are never chosen unless asked for. `f16` rounds
// f32 operands to f16: what is beyond 65504 becomes infinite. `bf16x6` and `bf16x9` take f32
// operands as sums of three bf16 values, and the six largest or all nine products of those.
enum class MathMode { ieee, tf32, tf32x3, f16, bf16x6, bf16x9 };

std::string_view to_string(DataType type);
std::string_view to_string(MathMode math);

// Parse the names users type ("f32", "3xtf32"). The error lists the valid names, nearest first.
Expected<DataType> parse_data_type(std::string_view text);
Expected<MathMode> parse_math_mode(std::string_view text);

std::span<const DataType> all_data_types();
int size_bytes(DataType type);

}  // namespace gemmtune
