#pragma once

#include "core/elements.h"

#include "parts/shared/random_value.h"

namespace gemmtune::tuner {

// An element of random operands, as random_fill.cuh makes it of a random_value.
inline float random_element(float value, DataType type) {
  const bool is_integer = type == DataType::i8 || type == DataType::i32;
  return is_integer ? static_cast<float>(random_integer(value)) : rounded(value, type);
}

}  // namespace gemmtune::tuner
