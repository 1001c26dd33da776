#include "app/run/run_report.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "../capture/linear_count.h"

namespace gemmtune::app {
namespace {

using cublas_preload::Beta;
using cublas_preload::Ran;

ProductCount count_of(int64_t m, Ran ran, std::string_view text, int64_t calls, uint64_t own) {
  ProductCount count = linear_count(m, 64, 32, calls);
  count.run.ran = ran;
  count.run.own_calls = own;
  text.copy(count.run.text.data(), count.run.text.size() - 1);
  return count;
}

TEST_CASE("calls on algorithms of cuBLASLt's are not counted as those of own kernels") {
  ProductCounts counts;
  counts.products = {count_of(8, Ran::own, "a kernel", 10, 9),
                     count_of(16, Ran::algorithm, "an algorithm", 20, 18),
                     count_of(32, Ran::cublas, "not tuned", 5, 0)};
  counts.products[1].run.own_graph_calls = 3;
  counts.products[1].own_us = {10, 10};
  counts.products[1].us = {12};
  const RunReport report = run_report(counts);
  CHECK(report.calls() == 35);
  CHECK(report.own_calls() == 9);
  CHECK(report.algorithm_calls() == 18);
  REQUIRE(report.problems.size() == 3);
  const RunProblem& by_algorithm = report.problems[0];  // the most saved time
  CHECK(by_algorithm.algorithm);
  CHECK_FALSE(by_algorithm.own);
  CHECK(by_algorithm.what == "an algorithm");
  CHECK(by_algorithm.saved_us() == 2 * (18 - 3));
  const auto json = nlohmann::json::parse(run_json(report));
  CHECK(json["own_calls"] == 9);
  CHECK(json["algorithm_calls"] == 18);
  CHECK(json["problems"][0]["algorithm"] == true);
  CHECK(json["problems"][0]["own"] == false);
  CHECK(json["problems"][0]["algorithm_calls"] == 18);
}

TEST_CASE("of what cuBLAS computes the products that should take longest come first") {
  ProductCounts counts;
  counts.products = {count_of(8, Ran::cublas, "not tuned", 50, 0),
                     count_of(4096, Ran::cublas, "not tuned", 5, 0),
                     count_of(2048, Ran::cublas, "not tuned", 5, 0),
                     count_of(2056, Ran::cublas, "not tuned", 10, 0)};
  const RunReport report = run_report(counts);
  std::vector<int64_t> rows;
  for (const RunProblem& problem : report.problems) rows.push_back(problem.problem.shape.m);
  CHECK(rows == std::vector<int64_t>{2056, 4096, 2048, 8});
}

TEST_CASE(
    "where some calls of a problem have a kernel and some an algorithm, the kernel is named") {
  for (const bool kernel_first : {false, true}) {
    ProductCounts counts;
    counts.products = {count_of(8, Ran::algorithm, "an algorithm", 10, 9),
                       count_of(8, Ran::own, "a kernel", 4, 3)};
    counts.products[1].product.beta = Beta::other;
    if (kernel_first) std::swap(counts.products[0], counts.products[1]);
    const RunReport report = run_report(counts);
    REQUIRE(report.problems.size() == 1);
    const RunProblem& problem = report.problems[0];
    CHECK(problem.own);
    CHECK(problem.algorithm);
    CHECK(problem.what == "a kernel");
    CHECK(problem.own_calls == 3);
    CHECK(problem.algorithm_calls == 9);
    CHECK(problem.comparable_calls() == 12);
  }
}

}  // namespace
}  // namespace gemmtune::app
