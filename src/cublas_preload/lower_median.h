#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace gemmtune::cublas_preload {

// The smaller of the two in the middle, of one value at least: a problem's first call also loads
// its kernel. Reorders the values.
inline float lower_median(std::span<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace gemmtune::cublas_preload
