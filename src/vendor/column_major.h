#pragma once

#include <cstdint>

#include "core/problem.h"

namespace gemmtune::vendor {

// One operand as column-major memory: `rows` x `columns`, element (i, j) at i + j * ld.
struct ColumnMajorMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t ld = 0;           // elements
  int64_t stride = 0;       // from one batch entry to the next, elements
  bool transposed = false;  // the product uses its transpose

  bool operator==(const ColumnMajorMatrix&) const = default;
};

// A Problem in BLAS terms: D = alpha * op(first) * op(second) + beta * D with every matrix
// column-major, which is the path the vendor's library is tuned for.
//
// Row-major memory of X is column-major memory of X^T with the same leading dimension. So a
// column-major C is computed as it stands, and a row-major C as C^T = op(B)^T * op(A)^T: B becomes
// the first operand, and an operand that is row-major needs no transpose.
struct ColumnMajorGemm {
  int64_t m = 0;  // rows of op(first) and D
  int64_t n = 0;  // columns of op(second) and D
  int64_t k = 0;
  int64_t batch = 1;
  ColumnMajorMatrix first;
  ColumnMajorMatrix second;
  ColumnMajorMatrix result;
  bool swapped = false;  // `first` is B and `second` is A

  bool operator==(const ColumnMajorGemm&) const = default;
};

// Pure. `problem` must be valid; all eight layouts are served, canonical or not.
ColumnMajorGemm column_major(const Problem& problem);

}  // namespace gemmtune::vendor
