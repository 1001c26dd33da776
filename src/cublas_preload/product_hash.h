#pragma once

#include <cstdint>

#include "cublas_preload/product.h"

namespace gemmtune::cublas_preload {

// XXH3, 64 bits, of all that a product says, and of the algorithm. The same only within a process.
uint64_t product_hash(const Product& product);
uint64_t product_hash(const Product& product, const lt::Algorithm& algorithm);

}  // namespace gemmtune::cublas_preload
