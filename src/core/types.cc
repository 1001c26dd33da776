#include "core/types.h"

#include <array>
#include <string>

#include "core/names.h"

namespace gemmtune {
namespace {

constexpr std::array<std::string_view, 3> kTypeNames = {"f32", "f16", "bf16"};
constexpr std::array<DataType, 3> kTypes = {DataType::f32, DataType::f16, DataType::bf16};
constexpr std::array<std::string_view, 4> kMathNames = {"ieee", "tf32", "3xtf32", "f16"};

// Index of `text` in `names`, or the message that lists them.
template <class T, size_t N>
Expected<T> parse_name(std::string_view what, std::string_view text,
                       const std::array<std::string_view, N>& names) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<T>(i);
  }
  return usage_error(unknown_name_message(what, text, names));
}

}  // namespace

std::string_view to_string(DataType type) {
  return kTypeNames[static_cast<size_t>(type)];
}
std::string_view to_string(MathMode math) {
  return kMathNames[static_cast<size_t>(math)];
}

Expected<DataType> parse_data_type(std::string_view text) {
  return parse_name<DataType>("type", text, kTypeNames);
}
Expected<MathMode> parse_math_mode(std::string_view text) {
  return parse_name<MathMode>("math mode", text, kMathNames);
}

std::span<const DataType> all_data_types() {
  return kTypes;
}

int size_bytes(DataType type) {
  return type == DataType::f32 ? 4 : 2;
}

}  // namespace gemmtune
