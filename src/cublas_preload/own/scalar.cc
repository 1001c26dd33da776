#include "cublas_preload/own/scalar.h"

#include <cstdlib>
#include <cstring>

#include "core/elements.h"

namespace gemmtune::cublas_preload {

namespace {

constexpr int64_t kLargestExact = int64_t{1} << 24;  // of the integers up to it, in f32

}  // namespace

std::optional<float> scalar_at(const void* value, lt::ElementType type) {
  if (type == lt::ElementType::f32) {
    float number = 0;
    std::memcpy(&number, value, sizeof(number));
    return number;
  }
  if (type == lt::ElementType::i32) {
    int32_t whole = 0;
    std::memcpy(&whole, value, sizeof(whole));
    if (std::abs(int64_t{whole}) > kLargestExact) return std::nullopt;
    return static_cast<float>(whole);
  }
  if (type != lt::ElementType::f16) return std::nullopt;
  uint16_t bits = 0;
  std::memcpy(&bits, value, sizeof(bits));
  return f16_value(bits);
}

}  // namespace gemmtune::cublas_preload
