#include "app/capture/captured.h"

#include <doctest/doctest.h>

#include <string>

#include "../../contains.h"
#include "app/capture/captured_suite.h"
#include "linear_count.h"
#include "tuner/session/suite.h"

namespace gemmtune::app {
namespace {

using cublas_preload::Beta;
namespace lt = vendor::lt;

ProductCount linear(int64_t m, int64_t n, int64_t k, int64_t calls, std::vector<float> us = {}) {
  ProductCount count = linear_count(m, n, k, calls);
  count.us = std::move(us);
  return count;
}

Captured captured_of(std::vector<ProductCount> products) {
  ProductCounts counts;
  counts.products = std::move(products);
  counts.processes = 1;
  return merge(counts);
}

TEST_CASE("calls that differ in beta, workspace or process are calls of one problem") {
  ProductCount first = linear(8, 64, 32, 10, {4, 5, 100});
  first.product.workspace_bytes = 4096;
  ProductCount second = linear(8, 64, 32, 5, {6});
  second.product.beta = Beta::other;
  second.product.workspace_bytes = 1024;
  second.graph_calls = 2;
  ProductCount third = linear(8, 64, 32, 1);
  third.product.beta = Beta::on_device;
  const Captured captured = captured_of({first, second, third});
  REQUIRE(captured.problems.size() == 1);
  const CapturedProblem& problem = captured.problems[0];
  CHECK(key(problem.problem) == "f32/f32/ieee/tnt/8x64x32");
  CHECK(problem.calls == 16);
  CHECK(problem.beta_calls == 6);
  CHECK(problem.graph_calls == 2);
  CHECK(problem.workspace_bytes == 1024);
  CHECK(problem.call_us == doctest::Approx(5));  // of 4 5 6 100: the lower of the middle
  CHECK(captured.calls() == 16);
  CHECK(captured.total_us() == doctest::Approx(80));
}

TEST_CASE("the largest share comes first, then the most calls") {
  const Captured captured = captured_of({linear(1, 64, 32, 100), linear(2, 64, 32, 3, {50}),
                                         linear(3, 64, 32, 200), linear(4, 64, 32, 1, {1000})});
  REQUIRE(captured.problems.size() == 4);
  CHECK(captured.problems[0].problem.shape.m == 4);
  CHECK(captured.problems[1].problem.shape.m == 2);
  CHECK(captured.problems[2].problem.shape.m == 3);
  CHECK(captured.problems[3].problem.shape.m == 1);
}

TEST_CASE("products that are no problem are counted by reason") {
  ProductCount f64 = linear(8, 64, 32, 7, {10});
  f64.product.a.type = f64.product.b.type = f64.product.d.type = static_cast<lt::ElementType>(1);
  f64.product.compute = static_cast<lt::ComputeType>(70);
  ProductCount more = f64;
  more.product.m = 99;
  const Captured captured = captured_of({f64, more});
  CHECK(captured.problems.empty());
  REQUIRE(captured.others.size() == 1);
  CHECK(captured.others[0].reason == "f64");
  CHECK(captured.others[0].calls == 14);
  CHECK(captured.others[0].total_us == doctest::Approx(140));
}

TEST_CASE("problems that differ in m only are one family") {
  std::vector<ProductCount> products;
  for (int64_t m = 1; m <= 5; ++m) products.push_back(linear(m, 64, 32, 2, {10}));
  products.push_back(linear(7, 65, 32, 1));
  products.push_back(linear(8, 65, 32, 1));
  const Captured captured = captured_of(products);
  REQUIRE(captured.families.size() == 1);
  CHECK(captured.families[0].text == "f32/f32/ieee/tnt/Mx64x32");
  CHECK(captured.families[0].m == std::vector<int64_t>{1, 2, 3, 4, 5});
  CHECK(captured.families[0].calls == 10);
  CHECK(captured.families[0].total_us == doctest::Approx(100));
}

TEST_CASE("leading dimensions and strides that follow m belong to a family") {
  std::vector<ProductCount> products;
  for (const int64_t m : {16, 17, 40}) {
    ProductCount count = linear(m, 64, 32, 1);
    count.product.transpose_b = lt::Transpose::yes;  // A in column-major order, its ld is m
    count.product.b.ld = m;
    count.product.batch = 4;
    count.product.a.stride = 64 * 32;
    count.product.b.stride = m * 32;
    count.product.d.stride = m * 64;
    products.push_back(count);
  }
  const Captured captured = captured_of(products);
  REQUIRE(captured.families.size() == 1);
  CHECK(captured.families[0].text == "f32/f32/ieee/nnt/Mx64x32/batch=4");
  // A leading dimension of its own makes another one.
  products[1].product.a.ld = 99;
  CHECK(captured_of(products).families.empty());
}

TEST_CASE("a suite is read back as the problems that were captured") {
  std::vector<ProductCount> products = {linear(8, 64, 32, 10, {4.123F})};
  products.push_back(linear(8, 64, 32, 5));
  products.back().product.epilogue = lt::Epilogue::gelu_bias;
  products.push_back(linear(9, 64, 32, 6));
  products.back().product.a.ld = 40;
  products.back().product.align_bytes = 16;
  products.push_back(linear(10, 64, 32, 7));
  products.back().product.batch = 12;
  products.back().product.a.stride = 0;  // one B for all
  products.back().product.b.stride = 10 * 32 + 8;
  products.back().product.d.stride = 10 * 64;
  products.push_back(linear(11, 64, 32, 8));
  products.back().product.a.type = products.back().product.b.type = lt::ElementType::bf16;
  products.push_back(linear(12, 64, 32, 9));
  products.back().product.compute = lt::ComputeType::f32_fast_tf32;
  products.push_back(linear(13, 64, 32, 11));
  products.back().product.a.type = products.back().product.b.type = lt::ElementType::i8;
  products.back().product.d.type = products.back().product.scale_type = lt::ElementType::i32;
  products.back().product.compute = lt::ComputeType::i32;
  const Captured captured = captured_of(products);
  REQUIRE(captured.problems.size() == 7);

  const std::string text = suite_text(captured, "my app", "products of: \"app\"\n\xff");
  const auto suite = tuner::parse_suite(text, "app.json");
  CAPTURE(text);
  REQUIRE(suite.has_value());
  CHECK(suite->name == "my app");
  REQUIRE(suite->entries.size() == captured.problems.size());
  for (size_t i = 0; i < captured.problems.size(); ++i) {
    CAPTURE(i);
    CHECK(suite->entries[i].problem == captured.problems[i].problem);
    CHECK(suite->entries[i].count == captured.problems[i].calls);
    CHECK(suite->entries[i].group == "my app");
    CHECK(suite->entries[i].unsupported.empty());
  }
  CHECK(contains(text, "\"call_us\":4.12"));
}

TEST_CASE("a suite's strides and what was captured are checked") {
  const auto parse = [](const std::string& fields) {
    const auto suite =
        tuner::parse_suite(R"({"problems": [{"m": 8, "n": 8, "k": 8, )" + fields + "}]}", "s.json");
    return suite ? std::string("fine") : suite.error().message;
  };
  CHECK(parse(R"("batch": 2, "stride_b": 0)") == "fine");
  CHECK(contains(parse(R"("stride_b": 0)"), "\"stride_b\" needs a \"batch\""));
  CHECK(contains(parse(R"("batch": 2, "stride_b": -1)"), "must be a whole number"));
  CHECK(contains(parse(R"("batch": 2, "stride_c": 8)"), "batch stride of c is 8"));
  CHECK(parse(R"("captured": {"call_us": 1.5, "graph_calls": 2})") == "fine");
  CHECK(contains(parse(R"("captured": 7)"), "must be an object"));
  CHECK(contains(parse(R"("captured": {"call_ms": 7})"), "unknown key of"));
  CHECK(contains(parse(R"("captured": {"call_us": "7"})"), "must be a number"));
}

}  // namespace
}  // namespace gemmtune::app
