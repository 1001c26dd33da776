#pragma once

#include <cstdint>

#include "app/capture/product_count.h"

namespace gemmtune::app {

// Calls for row-major C (m x n) = A (m x k) * B^T, f32.
inline ProductCount linear_count(int64_t m, int64_t n, int64_t k, int64_t calls) {
  ProductCount count;
  cublas_preload::Product& product = count.product;
  product.m = n;
  product.n = m;
  product.k = k;
  product.a.ld = product.b.ld = k;
  product.d.ld = n;
  product.transpose_a = vendor::lt::Transpose::yes;
  product.align_bytes = 256;
  count.calls = calls;
  return count;
}

}  // namespace gemmtune::app
