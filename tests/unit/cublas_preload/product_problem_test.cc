#include "cublas_preload/product_problem.h"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "../rounds.h"
#include "vendor/column_major.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr auto kNo = lt::Transpose::no;
constexpr auto kYes = lt::Transpose::yes;

lt::ElementType element_type(DataType type) {
  switch (type) {
    case DataType::f16:
      return lt::ElementType::f16;
    case DataType::bf16:
      return lt::ElementType::bf16;
    case DataType::e4m3:
      return lt::ElementType::e4m3;
    case DataType::e5m2:
      return lt::ElementType::e5m2;
    case DataType::i8:
      return lt::ElementType::i8;
    case DataType::i32:
      return lt::ElementType::i32;
    case DataType::f32:
      break;
  }
  return lt::ElementType::f32;
}

Operand operand(const vendor::ColumnMajorMatrix& matrix, DataType type) {
  return {matrix.ld, matrix.stride, element_type(type), lt::Order::column_major};
}

// The product that the library asks cuBLASLt for in order to compute a problem.
Product product_of(const Problem& problem) {
  const vendor::ColumnMajorGemm gemm = vendor::column_major(problem);
  Product product;
  product.m = gemm.m;
  product.n = gemm.n;
  product.k = gemm.k;
  product.batch = gemm.batch;
  product.a = operand(gemm.first, problem.type);
  product.b = operand(gemm.second, problem.type);
  product.d = operand(gemm.result, result_type(problem));
  product.transpose_a = gemm.first.transposed ? kYes : kNo;
  product.transpose_b = gemm.second.transposed ? kYes : kNo;
  product.align_bytes = problem.align_bytes;
  if (problem.math == MathMode::tf32) product.compute = lt::ComputeType::f32_fast_tf32;
  if (problem.math == MathMode::f16) product.compute = lt::ComputeType::f32_fast_f16;
  if (problem.accumulator == DataType::f16) {
    product.compute = lt::ComputeType::f16;
    product.scale_type = lt::ElementType::f16;
  }
  if (problem.accumulator == DataType::i32) {
    product.compute = lt::ComputeType::i32;
    product.scale_type = lt::ElementType::i32;
  }
  uint32_t epilogue = problem.epilogue.bias != kNoBias ? 4 : 0;
  if (problem.epilogue.activation == kRelu) epilogue |= 2;
  if (problem.epilogue.activation == kGeluTanh) epilogue |= 32;
  product.epilogue = static_cast<lt::Epilogue>(epilogue == 0 ? 1 : epilogue);
  product.scales = static_cast<ProductScales>(transposed(problem.epilogue).scale);
  product.fast_sums = problem.math == MathMode::fast_accum ? 1 : 0;
  return product;
}

template <class Value>
Value one_of(std::mt19937& random, std::initializer_list<Value> values) {
  return *(values.begin() + random() % values.size());
}

// A problem that cuBLASLt computes, with a row-major C.
Problem random_problem(std::mt19937& random) {
  const auto size = [&] { return static_cast<int64_t>(random() % 300 + 1); };
  const auto order = [&] { return random() % 2 == 0 ? Order::row_major : Order::column_major; };
  Problem problem = make_problem({size(), size(), size()},
                                 one_of(random, {DataType::f32, DataType::f16, DataType::bf16}),
                                 {order(), order(), Order::row_major});
  problem.lda += random() % 2 * (random() % 64);
  problem.ldb += random() % 2 * (random() % 64);
  problem.ldc += random() % 2 * (random() % 64);
  if (random() % 3 == 0) {
    problem.batch = static_cast<int64_t>(random() % 20 + 2);
    pack(problem);
    problem.stride_a += static_cast<int64_t>(random() % 100);
    problem.stride_b = random() % 2 == 0 ? 0 : problem.stride_b;
    problem.stride_c += static_cast<int64_t>(random() % 100);
  }
  problem.align_bytes = one_of(random, {256, 16, 8, 4});
  if (problem.type == DataType::f32)
    problem.math = one_of(random, {MathMode::ieee, MathMode::tf32, MathMode::f16});
  if (problem.type == DataType::f16 && random() % 2 == 0) problem.accumulator = DataType::f16;
  if (problem.type != DataType::f32 && random() % 4 == 0) problem.result = DataType::f32;
  if (random() % 2 == 0) problem.epilogue.bias = kBiasPerColumn;
  problem.epilogue.activation = one_of(random, {kNoActivation, kRelu, kGeluTanh});
  return problem;
}

// The same of integers.
Problem random_i8_problem(std::mt19937& random) {
  const auto size = [&] { return static_cast<int64_t>(random() % 300 + 1); };
  Problem problem = make_problem({size(), size(), size()}, DataType::i8,
                                 {Order::row_major, Order::column_major, Order::row_major});
  problem.lda += random() % 2 * (random() % 64);
  problem.ldc += random() % 2 * (random() % 64);
  return problem;
}

// The same of 8-bit operands, which programs scale.
Problem random_8_bit_problem(std::mt19937& random) {
  const auto size = [&] { return static_cast<int64_t>(random() % 300 + 1); };
  Problem problem =
      make_problem({size(), size(), size()}, one_of(random, {DataType::e4m3, DataType::e5m2}),
                   {Order::row_major, Order::column_major, Order::row_major});
  problem.lda += random() % 2 * (random() % 64);
  problem.ldc += random() % 2 * (random() % 64);
  if (random() % 2 == 0) problem.result = one_of(random, {DataType::f32, DataType::f16});
  problem.epilogue = {one_of(random, {kNoBias, kBiasPerColumn}), kNoActivation,
                      one_of(random, {kNoScale, kScalePerTensor, kScalePerRow, kScale1x128,
                                      kScale1x128By128x128, kScale128x128By1x128})};
  if (!has_block_scales(problem.epilogue.scale))
    problem.math = one_of(random, {MathMode::ieee, MathMode::fast_accum});
  return problem;
}

TEST_CASE("what the library asks cuBLASLt for is understood as the problem that it is") {
  std::mt19937 random(11);
  for (int i = 0; i < rounds(100000); ++i) {
    const Problem problem = i % 4 == 0   ? random_8_bit_problem(random)
                            : i % 8 == 1 ? random_i8_problem(random)
                                         : random_problem(random);
    REQUIRE(validate(problem).has_value());
    const auto understood = problem_of(product_of(problem));
    CAPTURE(key(problem));
    REQUIRE(understood.has_value());
    REQUIRE(key(*understood) == key(canonical(problem)));
    REQUIRE(*understood == canonical(problem));
  }
}

// Element (i, j) of op(X) in the memory of a column- or row-major matrix.
int64_t at(const Operand& x, lt::Transpose op, int64_t i, int64_t j) {
  if (op != kNo) std::swap(i, j);
  return x.order == lt::Order::column_major ? i + j * x.ld : i * x.ld + j;
}

int64_t at(Order order, int64_t ld, int64_t i, int64_t j) {
  return order == Order::row_major ? i * ld + j : i + j * ld;
}

// Both as sums over the same memory: C or its transpose has the same element at the same place.
bool same_product(const Product& product, const Problem& problem) {
  const bool turned = product.d.order == lt::Order::column_major;
  for (int64_t i = 0; i < product.m; ++i) {
    for (int64_t j = 0; j < product.n; ++j) {
      const int64_t row = turned ? j : i;
      const int64_t column = turned ? i : j;
      if (at(product.d, kNo, i, j) != at(problem.layout.c, problem.ldc, row, column)) return false;
      for (int64_t p = 0; p < product.k; ++p) {
        const int64_t left = at(problem.layout.a, problem.lda, row, p);
        const int64_t right = at(problem.layout.b, problem.ldb, p, column);
        const int64_t a = at(product.a, product.transpose_a, i, p);
        const int64_t b = at(product.b, product.transpose_b, p, j);
        if ((turned ? right : left) != a || (turned ? left : right) != b) return false;
      }
    }
  }
  return true;
}

TEST_CASE("every order and transpose of small matrices reads and writes the same memory") {
  int seen = 0;
  for (int bits = 0; bits < 1 << 5; ++bits) {
    const auto order = [&](int bit) {
      return (bits >> bit & 1) != 0 ? lt::Order::row_major : lt::Order::column_major;
    };
    for (int64_t m = 1; m <= 3; ++m) {
      for (int64_t n = 1; n <= 3; ++n) {
        for (int64_t k = 1; k <= 3; ++k) {
          Product product;
          product.m = m;
          product.n = n;
          product.k = k;
          product.a = {5, 0, lt::ElementType::f32, order(0)};
          product.b = {6, 0, lt::ElementType::f32, order(1)};
          product.d = {7, 0, lt::ElementType::f32, order(2)};
          product.transpose_a = (bits >> 3 & 1) != 0 ? kYes : kNo;
          product.transpose_b = (bits >> 4 & 1) != 0 ? kYes : kNo;
          product.align_bytes = 256;
          const auto problem = problem_of(product);
          REQUIRE(problem.has_value());
          REQUIRE(problem->layout.c == Order::row_major);
          REQUIRE(same_product(product, *problem));
          ++seen;
        }
      }
    }
  }
  CHECK(seen == 32 * 27);
}

Product plain() {
  Product product;
  product.m = 8;
  product.n = 4;
  product.k = 6;
  product.a.ld = 8;
  product.b.ld = 6;
  product.d.ld = 8;
  product.align_bytes = 256;
  return product;
}

std::string reason(const Product& product) {
  const auto problem = problem_of(product);
  REQUIRE_FALSE(problem.has_value());
  return problem.error().message;
}

TEST_CASE("math modes and compute types") {
  const auto math = [](int mode, int compute) {
    Product product = plain();
    product.math_mode = mode;
    product.compute = static_cast<lt::ComputeType>(compute);
    const auto problem = problem_of(product);
    return problem ? std::string(to_string(problem->math)) : problem.error().message;
  };
  CHECK(math(0, 68) == "ieee");
  CHECK(math(2, 68) == "ieee");
  CHECK(math(3, 68) == "tf32");
  CHECK(math(3 | 16, 68) == "tf32");
  CHECK(math(16, 68) == "ieee");
  CHECK(math(1, 68) == "f16");
  CHECK(math(4, 68) == "math mode 4 (emulation)");
  CHECK(math(3, 69) == "ieee");  // the call says pedantic
  CHECK(math(0, 74) == "f16");
  CHECK(math(0, 75) == "f32 by bf16 products");
  CHECK(math(0, 77) == "tf32");
  CHECK(math(0, 78) == "compute type 78");
  Product half = plain();
  half.a.type = half.b.type = half.d.type = lt::ElementType::f16;
  half.compute = static_cast<lt::ComputeType>(75);
  half.math_mode = 3;
  CHECK(problem_of(half)->math == MathMode::ieee);
}

TEST_CASE("what is no problem says why") {
  const auto with_types = [](int a, int b, int d) {
    Product product = plain();
    product.a.type = static_cast<lt::ElementType>(a);
    product.b.type = static_cast<lt::ElementType>(b);
    product.d.type = static_cast<lt::ElementType>(d);
    return reason(product);
  };
  CHECK(with_types(1, 1, 1) == "f64");
  CHECK(with_types(3, 3, 3) == "i8");
  CHECK(with_types(3, 8, 10) == "i8 u8 -> i32");
  CHECK(with_types(3, 3, 10) == "types, sizes or an alignment that no kernel computes");  // in f32
  CHECK(with_types(4, 4, 4) == "complex");
  CHECK(with_types(28, 29, 14) == "e4m3 e5m2 -> bf16");
  CHECK(with_types(28, 28, 28) == "e4m3");
  CHECK(with_types(2, 2, 14) == "types, sizes or an alignment that no kernel computes");
  Product product = plain();
  product.k = 0;
  CHECK(reason(product) == "an empty matrix");
  product = plain();
  product.m = -5;
  CHECK(reason(product) == "types, sizes or an alignment that no kernel computes");
  product = plain();
  product.align_bytes = 2;
  CHECK(reason(product) == "types, sizes or an alignment that no kernel computes");
  product = plain();
  product.batch = 3;
  product.d.stride = 8;
  CHECK(reason(product) == "a batch whose results interleave in C");
  product = plain();
  product.epilogue = lt::Epilogue::bias;
  product.bias_type = 14;
  CHECK(reason(product) == "a bias of another type than C");
  product = plain();
  product.epilogue = static_cast<lt::Epilogue>(128 | 4);
  CHECK(reason(product) == "epilogue 132");
  for (uint32_t bit = 1; bit <= static_cast<uint32_t>(Oddity::vector_apart); bit *= 2) {
    product = plain();
    product.oddities = bit;
    CHECK_FALSE(reason(product).empty());
  }
}

TEST_CASE("any product is understood or refused") {
  std::mt19937_64 random(5);
  const auto number = [&] {
    return random() % 4 == 0 ? static_cast<int64_t>(random())
                             : static_cast<int64_t>(random() % 200);
  };
  for (int i = 0; i < rounds(100000); ++i) {
    Product product;
    product.m = number();
    product.n = number();
    product.k = number();
    product.batch = random() % 2 == 0 ? 1 : number();
    for (Operand* each : {&product.a, &product.b, &product.d}) {
      each->ld = number();
      each->stride = number();
      each->type = static_cast<lt::ElementType>(random() % 4 == 0 ? random() % 40 : 0);
      each->order = static_cast<lt::Order>(random() % 4);
    }
    product.transpose_a = static_cast<lt::Transpose>(random() % 3);
    product.compute = static_cast<lt::ComputeType>(64 + random() % 16);
    product.math_mode = static_cast<int32_t>(random() % 32);
    product.epilogue = static_cast<lt::Epilogue>(random() % 300);
    product.align_bytes = 1 << random() % 9;
    product.scales = static_cast<ProductScales>(random() % 7);
    product.fast_sums = random() % 4 == 0 ? 1 : 0;
    const auto problem = problem_of(product);
    if (problem) {
      REQUIRE(validate(*problem).has_value());
      REQUIRE(canonical(*problem) == *problem);
    } else {
      REQUIRE_FALSE(problem.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace gemmtune::cublas_preload
