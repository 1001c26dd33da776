#pragma once

#include <cstdint>
#include <vector>

#include "cublas_preload/product_file.h"

namespace gemmtune::app {

// How often a program asked for a product.
struct ProductCount {
  cublas_preload::Product product;
  int64_t calls = 0;        // those under capture included
  int64_t graph_calls = 0;  // under stream capture: each runs again with every replay of its graph
  std::vector<float> us;    // GPU times of some of the calls
  std::vector<float> own_us;      // the same of own kernels, where they were run
  cublas_preload::RunRecord run;  // what became of the calls there
};

// Everything that was counted in one place.
struct ProductCounts {
  std::vector<ProductCount> products;
  int64_t calls_left_out = 0;  // of problems beyond those that there was room for
  int64_t unread_lines = 0;    // of a log: products that could not be understood
  int processes = 0;
};

}  // namespace gemmtune::app
