#include "vendor/column_major.h"

#include <utility>

namespace gemmtune::vendor {
namespace {

// The memory of a `rows` x `columns` matrix seen column-major: as it is, or as its transpose.
ColumnMajorMatrix memory_of(Order order, int64_t rows, int64_t columns, int64_t ld,
                            int64_t stride) {
  if (order == Order::row_major) std::swap(rows, columns);
  return {rows, columns, ld, stride, false};
}

}  // namespace

ColumnMajorGemm column_major(const Problem& problem) {
  const Shape& s = problem.shape;
  ColumnMajorMatrix a = memory_of(problem.layout.a, s.m, s.k, problem.lda, problem.stride_a);
  ColumnMajorMatrix b = memory_of(problem.layout.b, s.k, s.n, problem.ldb, problem.stride_b);
  ColumnMajorGemm gemm;
  gemm.swapped = problem.layout.c == Order::row_major;
  // Unswapped, op(A) itself is needed: memory that holds its transpose is transposed. Swapped, it
  // is op(A)^T, so the other way round.
  a.transposed = (problem.layout.a == Order::row_major) != gemm.swapped;
  b.transposed = (problem.layout.b == Order::row_major) != gemm.swapped;
  gemm.m = gemm.swapped ? s.n : s.m;
  gemm.n = gemm.swapped ? s.m : s.n;
  gemm.k = s.k;
  gemm.batch = problem.batch;
  gemm.first = gemm.swapped ? b : a;
  gemm.second = gemm.swapped ? a : b;
  gemm.result = memory_of(problem.layout.c, s.m, s.n, problem.ldc, problem.stride_c);
  return gemm;
}

}  // namespace gemmtune::vendor
