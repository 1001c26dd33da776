#include "vendor/column_major.h"

#include <doctest/doctest.h>

#include "reference_problem.h"

using namespace gemmtune;  // NOLINT(google-build-using-namespace)
using gemmtune::vendor::ColumnMajorGemm;
using gemmtune::vendor::ColumnMajorMatrix;

namespace {

float element(const std::vector<float>& data, const ColumnMajorMatrix& matrix, int64_t i, int64_t j,
              int64_t batch) {
  if (matrix.transposed) std::swap(i, j);
  REQUIRE(i < matrix.rows);
  REQUIRE(j < matrix.columns);
  return data[static_cast<size_t>(batch * matrix.stride + i + j * matrix.ld)];
}

// What BLAS computes for `gemm`.
std::vector<float> evaluate(const ColumnMajorGemm& gemm, const std::vector<float>& first,
                            const std::vector<float>& second, std::vector<float> result,
                            float alpha, float beta) {
  REQUIRE(gemm.result.rows == gemm.m);
  REQUIRE(gemm.result.columns == gemm.n);
  REQUIRE_FALSE(gemm.result.transposed);
  for (const ColumnMajorMatrix& matrix : {gemm.first, gemm.second, gemm.result}) {
    REQUIRE(matrix.ld >= matrix.rows);  // as the library demands
  }
  for (int64_t batch = 0; batch < gemm.batch; ++batch) {
    for (int64_t j = 0; j < gemm.n; ++j) {
      for (int64_t i = 0; i < gemm.m; ++i) {
        float sum = 0;
        for (int64_t k = 0; k < gemm.k; ++k) {
          sum +=
              element(first, gemm.first, i, k, batch) * element(second, gemm.second, k, j, batch);
        }
        const int64_t at = batch * gemm.result.stride + i + j * gemm.result.ld;
        float& out = result[static_cast<size_t>(at)];
        out = alpha * sum + beta * out;
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("the column-major product is the problem, for all layouts and random strides") {
  std::mt19937 random(3);
  for (const Layout layout : vendor_test::all_layouts()) {
    CAPTURE(to_string(layout));
    for (int round = 0; round < 60; ++round) {
      const Problem problem = vendor_test::random_problem(layout, random);
      REQUIRE(validate(problem));
      const auto operands = vendor_test::random_operands(problem, random);
      const ColumnMajorGemm gemm = vendor::column_major(problem);
      const auto& first = gemm.swapped ? operands.b : operands.a;
      const auto& second = gemm.swapped ? operands.a : operands.b;
      CHECK(evaluate(gemm, first, second, operands.c, 2, -1) ==
            vendor_test::reference(problem, operands, 2, -1));
    }
  }
}

TEST_CASE("a problem and its canonical twin are the same product") {
  std::mt19937 random(4);
  for (const Layout layout : vendor_test::all_layouts()) {
    const Problem problem = vendor_test::random_problem(layout, random);
    ColumnMajorGemm plain = vendor::column_major(problem);
    ColumnMajorGemm twin = vendor::column_major(canonical(problem));
    if (layout.c == Order::column_major) CHECK(plain.swapped != twin.swapped);
    plain.swapped = twin.swapped = false;
    CHECK(plain == twin);
  }
}

TEST_CASE("the usual layouts have the transposes that programs pass") {
  const auto letters = [](const char* text) {
    const auto gemm =
        vendor::column_major(make_problem({4, 5, 6}, DataType::f32, parse_layout(text).value()));
    return std::string(gemm.first.transposed ? "T" : "N") + (gemm.second.transposed ? "T" : "N");
  };
  CHECK(letters("tnn") == "TN");  // BLAS "TN"
  CHECK(letters("nnn") == "NN");
  CHECK(letters("ttt") == "NN");  // plain C++ arrays: no transposes
  CHECK(letters("tnt") == "TN");  // a linear layer with N x K weights
}
