#pragma once

#include <optional>

#include "cublas_preload/product.h"

namespace gemmtune::cublas_preload {

// The value of an alpha or a beta in host memory; nothing for a type that no own kernel takes, nor
// for an integer that f32 has not.
std::optional<float> scalar_at(const void* value, lt::ElementType type);

}  // namespace gemmtune::cublas_preload
