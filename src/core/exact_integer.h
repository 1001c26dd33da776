#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

namespace gemmtune {

// f32 has all integers of at most that magnitude.
inline constexpr int32_t kMostExactInF32 = 1 << 24;

// Nothing for one that it may not have.
inline std::optional<float> exact_f32(int32_t value) {
  if (std::abs(int64_t{value}) > kMostExactInF32) return std::nullopt;
  return static_cast<float>(value);
}

}  // namespace gemmtune
