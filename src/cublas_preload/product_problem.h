#pragma once

#include <string>

#include "core/problem.h"
#include "cublas_preload/product.h"

namespace gemmtune::cublas_preload {

// The problem, canonical, that a product of cuBLAS is. An error says in a few words why it is none
// that this project can state ("f64", "a batch by pointer arrays"); products with the same reason
// are counted together.
Expected<Problem> problem_of(const Product& product);

}  // namespace gemmtune::cublas_preload
