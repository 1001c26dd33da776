#include "core/types.h"

#include <array>
#include <string>

#include "core/names.h"

namespace gemmtune {
namespace {

constexpr std::array kTypes = {DataType::f32,  DataType::f16, DataType::bf16, DataType::e4m3,
                               DataType::e5m2, DataType::i8,  DataType::i32};
constexpr std::array kMathModes = {MathMode::ieee,      MathMode::tf32,   MathMode::tf32x3,
                                   MathMode::f16,       MathMode::bf16x6, MathMode::bf16x9,
                                   MathMode::fast_accum};

// The value of that name, or the message that lists the names.
template <class T, size_t N>
Expected<T> parse_name(std::string_view what, std::string_view text,
                       const std::array<T, N>& values) {
  std::array<std::string_view, N> names;
  for (size_t i = 0; i < N; ++i) {
    names[i] = to_string(values[i]);
    if (names[i] == text) return values[i];
  }
  return usage_error(unknown_name_message(what, text, names));
}

}  // namespace

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::f32:
      return "f32";
    case DataType::f16:
      return "f16";
    case DataType::bf16:
      return "bf16";
    case DataType::e4m3:
      return "e4m3";
    case DataType::e5m2:
      return "e5m2";
    case DataType::i8:
      return "i8";
    case DataType::i32:
      break;
  }
  return "i32";
}
std::string_view to_string(MathMode math) {
  switch (math) {
    case MathMode::ieee:
      return "ieee";
    case MathMode::tf32:
      return "tf32";
    case MathMode::tf32x3:
      return "3xtf32";
    case MathMode::f16:
      return "f16";
    case MathMode::bf16x6:
      return "bf16x6";
    case MathMode::bf16x9:
      return "bf16x9";
    case MathMode::fast_accum:
      break;
  }
  return "fast_accum";
}

Expected<DataType> parse_data_type(std::string_view text) {
  return parse_name<DataType>("type", text, kTypes);
}
Expected<MathMode> parse_math_mode(std::string_view text) {
  return parse_name<MathMode>("math mode", text, kMathModes);
}
Expected<MathMode> parse_split_mode(std::string_view text) {
  constexpr std::array kSplitModes = {MathMode::tf32x3, MathMode::bf16x6, MathMode::bf16x9};
  return parse_name<MathMode>("split mode", text, kSplitModes);
}

std::span<const DataType> all_data_types() {
  return kTypes;
}

int size_bytes(DataType type) {
  switch (type) {
    case DataType::f32:
    case DataType::i32:
      return 4;
    case DataType::f16:
    case DataType::bf16:
      return 2;
    case DataType::e4m3:
    case DataType::e5m2:
    case DataType::i8:
      break;
  }
  return 1;
}

}  // namespace gemmtune
