// What the shipped results lend by estimated times, held against what was measured.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../rounds.h"
#include "dispatch/decision.h"
#include "dispatch/snapshot_source.h"
#include "dispatch/winner.h"
#include "shipped/shipped_results.h"
#include "snapshot_fixture.h"
#include "tuner/measure/statistics.h"

namespace gemmtune::dispatch {
namespace {

struct MeasuredTimes {
  double own_us = 0;
  double best_us = 0;   // of the fastest of cuBLASLt's algorithms
  double first_us = 0;  // of its heuristic's first one
};
using TimesByKernel = std::map<std::string, MeasuredTimes>;

std::map<std::string, TimesByKernel> read_times(const std::string& name) {
  std::ifstream file(GEMMTUNE_SOURCE_DIR "/tests/unit/dispatch/" + name);
  REQUIRE(file);
  std::map<std::string, TimesByKernel> times;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream cells(line);
    std::string problem;
    std::string kernel;
    MeasuredTimes measured;
    std::getline(std::getline(cells, problem, '\t'), kernel, '\t');
    cells >> measured.own_us >> measured.best_us >> measured.first_us;
    REQUIRE(cells);
    times[problem][kernel] = measured;
  }
  return times;
}

Snapshot shipped_for_h200() {
  auto store = store::open_memory_store(shipped::results());
  REQUIRE(store.has_value());
  auto snapshot = read_store(**store, dispatch_test::here());
  REQUIRE(snapshot.has_value());
  return *std::move(snapshot);
}

// A kernel that was lent by its estimated time and timed.
struct LentKernel {
  std::string problem;
  double estimate_us = 0;
  MeasuredTimes measured;
};

std::vector<LentKernel> lent_kernels(const Snapshot& snapshot) {
  std::vector<LentKernel> lent;
  int number = 0;
  for (const auto& [problem, times] : read_times("lent_times_h200.tsv")) {
    if (++number % (1000 / rounds(1000)) != 0) continue;
    const Request request = dispatch_test::request_for(problem);
    const Decision decision = decide(snapshot, request, dispatch_test::target());
    const Choice& first = decision.choices.at(0);
    if (!first.reason.starts_with("should take ")) continue;
    const auto timed = times.find(describe(first));
    if (timed != times.end()) lent.push_back({problem, first.lead->own_us, timed->second});
  }
  return lent;
}

// The value that a share of them are below.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values.at(static_cast<size_t>(share * static_cast<double>(values.size())));
}

TEST_CASE("kernels that are lent by estimated times were measured to be faster than cuBLASLt") {
  const std::vector<LentKernel> lent = lent_kernels(shipped_for_h200());
  // Fewer once other results ship, whose kernels are lent in place of those that were timed: then
  // problems want to be timed anew.
  REQUIRE(lent.size() >= static_cast<size_t>(rounds(1000)));
  std::vector<double> leads;
  std::vector<double> of_estimates;
  for (const LentKernel& kernel : lent) {
    CAPTURE(kernel.problem);
    CHECK(kernel.measured.first_us > 0.92 * kernel.measured.own_us);
    leads.push_back(kernel.measured.first_us / kernel.measured.own_us);
    of_estimates.push_back(kernel.measured.own_us / kernel.estimate_us);
  }
  CHECK(tuner::geometric_mean(leads) > 1.4);
  CHECK(quantile(leads, 0.02) > 0.99);
  CHECK(quantile(of_estimates, 0.9) < 1.03);
  CHECK(quantile(of_estimates, 0.5) > 0.9);
}

// For a program that gives cuBLASLt no workspace.
TEST_CASE("integers that were not tuned run on kernels that are ahead of what needs no workspace") {
  const Snapshot snapshot = shipped_for_h200();
  std::vector<double> leads;
  for (const auto& timed : read_times("lent_times_without_workspace_h200.tsv")) {
    const std::string& problem = timed.first;
    CAPTURE(problem);
    const auto found =
        level_kernels(snapshot, dispatch_test::request_for(problem), dispatch_test::target());
    if (!found) continue;
    const auto kernel = timed.second.find(describe(found->front().choice));
    if (kernel == timed.second.end()) continue;
    leads.push_back(kernel->second.first_us / kernel->second.own_us);
    CHECK(leads.back() > 1.1);
  }
  REQUIRE(leads.size() >= 200);  // fewer once other results ship
  CHECK(tuner::geometric_mean(leads) > 1.7);
}

}  // namespace
}  // namespace gemmtune::dispatch
