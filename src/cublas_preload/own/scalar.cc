#include "cublas_preload/own/scalar.h"

#include <cstring>

#include "core/elements.h"
#include "core/exact_integer.h"

namespace gemmtune::cublas_preload {

std::optional<float> scalar_at(const void* value, lt::ElementType type) {
  if (type == lt::ElementType::f32) {
    float number = 0;
    std::memcpy(&number, value, sizeof(number));
    return number;
  }
  if (type == lt::ElementType::i32) {
    int32_t whole = 0;
    std::memcpy(&whole, value, sizeof(whole));
    return exact_f32(whole);
  }
  if (type != lt::ElementType::f16) return std::nullopt;
  uint16_t bits = 0;
  std::memcpy(&bits, value, sizeof(bits));
  return f16_value(bits);
}

}  // namespace gemmtune::cublas_preload
