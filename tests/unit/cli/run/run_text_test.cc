#include "cli/run/run_text.h"

#include <doctest/doctest.h>

#include <string>

#include "../../contains.h"

namespace gemmtune::cli {
namespace {

app::RunProblem own_problem(int64_t m, double own_us, double cublas_us) {
  app::RunProblem problem;
  problem.problem = make_problem({m, 1000, 1000});
  problem.own = true;
  problem.what = "strategy tile_m=1";
  problem.calls = 10;
  problem.own_calls = 10;
  problem.own_time = app::SampledTime{own_us, 4};
  problem.cublas_time = app::SampledTime{cublas_us, 4};
  return problem;
}

app::RunProblem handed_on_problem(int64_t m) {
  app::RunProblem problem;
  problem.problem = make_problem({m, 1000, 1000});
  problem.what = "not tuned";
  problem.calls = 10;
  return problem;
}

std::string row_of(int64_t m) {
  return "/" + std::to_string(m) + "x1000x1000";
}

TEST_CASE("a long report says how much it leaves out, and never what lost time") {
  app::RunReport report;
  for (int64_t m = 1; m <= 50; ++m) report.problems.push_back(own_problem(m, 10, 12));
  report.problems.push_back(own_problem(51, 12, 10));
  const std::string text = run_report_text(report);
  CHECK(contains(text, row_of(40)));
  CHECK_FALSE(contains(text, row_of(41)));
  CHECK(contains(text, row_of(51)));
  CHECK(contains(text, "and 10 more, which -o FILE has\n"));
}

TEST_CASE("what ran on cuBLAS is left out in the same way") {
  app::RunReport report;
  for (int64_t m = 1; m <= 43; ++m) report.problems.push_back(handed_on_problem(m));
  const std::string text = run_report_text(report);
  CHECK_FALSE(contains(text, row_of(41)));
  CHECK(contains(text, "and 3 more, which -o FILE has\n"));
  report.problems.resize(40);
  CHECK_FALSE(contains(run_report_text(report), "more"));
}

}  // namespace
}  // namespace gemmtune::cli
