#include "app/bench/bench_summary.h"
#include "app/bench/bench_choice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "../../contains.h"
#include "app/bench/bench.h"

namespace gemmtune::app {
namespace {

using nlohmann::json;

tuner::BenchSide side(double us, const char* config = "") {
  return {us, us, us, config};
}

BenchContender contender(double us, BenchProvenance provenance) {
  return {"label", provenance, "reason", {}, side(us, "strategy tile_m=1")};
}

// A row whose own kernel is what runs.
BenchRow row(const char* group, double own, double first, double best, int64_t count = 1) {
  BenchRow row;
  row.wanted.problem = make_problem({1000, 1000, 1000});
  row.wanted.group = group;
  row.wanted.text = "p";
  row.wanted.count = count;
  if (own > 0) row.dispatched = row.own = contender(own, BenchProvenance::same_model);
  row.vendor_first = side(first, "rank=0");
  row.vendor_best = side(best, "rank=4");
  return row;
}

}  // namespace

TEST_CASE("group means are geometric means of the compared rows") {
  const std::vector<BenchRow> rows = {row("a", 10, 20, 10), row("a", 10, 5, 2.5), row("b", 0, 1, 1),
                                      row("c", 4, 4, 2)};
  const auto groups = bench_groups(rows);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].name == "a");
  CHECK(groups[0].rows == 2);
  CHECK(groups[0].own.rows == 2);
  CHECK(groups[0].own.vs_first == doctest::Approx(1.0));
  CHECK(groups[0].own.vs_best == doctest::Approx(0.5));
  CHECK(groups[1].rows == 1);
  CHECK(groups[1].own.rows == 0);
  CHECK(groups[1].own.vs_best == 0);
  CHECK(groups[3].name == "all");
  CHECK(groups[3].own.rows == 3);
  CHECK(groups[3].own.vs_best == doctest::Approx(0.5));
}

TEST_CASE("own kernels and what runs are averaged apart") {
  BenchRow slower = row("a", 40, 20, 10);
  slower.dispatched = contender(10, BenchProvenance::vendor_default);
  const auto groups = bench_groups(std::vector{row("a", 5, 20, 10), slower});
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].dispatched.vs_best == doctest::Approx(std::sqrt(2.0)));
  CHECK(groups[0].own.vs_best == doctest::Approx(std::sqrt(0.5)));
}

TEST_CASE("a step is the sum of all calls of what was compared, and says what that covers") {
  BenchRow skipped = row("a", 0, 0, 0, 100);
  skipped.vendor_first.reset();
  skipped.vendor_best.reset();
  BenchRow alone = row("a", 7, 0, 0, 10);  // without cuBLASLt
  alone.vendor_first.reset();
  alone.vendor_best.reset();
  const auto groups =
      bench_groups(std::vector{row("a", 10, 20, 15, 12), row("a", 100, 90, 80, 1), skipped, alone});
  REQUIRE(groups.size() == 1);
  const BenchStep& step = groups[0].step;
  CHECK(step.calls == 123);
  CHECK(step.compared == 13);
  CHECK(groups[0].rows == 4);
  CHECK(groups[0].dispatched.rows == 2);
  CHECK(step.dispatched_us == doctest::Approx(12 * 10 + 100));
  CHECK(step.vendor_first_us == doctest::Approx(12 * 20 + 90));
  CHECK(step.vendor_best_us == doctest::Approx(12 * 15 + 80));
  CHECK(bench_groups({}).empty());
}

TEST_CASE("bench: JSON has every row and group, null where nothing is known") {
  BenchReport report;
  report.target.device = Device{};
  report.rows = {row("a, \"b\"", 100, 120, 80, 3), row("a, \"b\"", 0, 120, 80)};
  report.rows[1].note = "not tuned";
  report.rows[0].vendor_best->samples_us = {81, 79, 80};
  report.groups = bench_groups(report.rows);
  report.beta = 0.5;
  const json parsed = json::parse(bench_json(report));
  CHECK(parsed["beta"] == 0.5);
  CHECK(parsed["vendor_workspace_bytes"] == 64 << 20);
  const json& first = parsed["rows"][0];
  CHECK(first["count"] == 3);
  CHECK(first["own_vs_best"] == doctest::Approx(0.8));
  CHECK(first["dispatched_vs_first"] == doctest::Approx(1.2));
  CHECK(first["dispatched"]["provenance"] == "same model");
  CHECK(first["dispatched"]["borrowed_from"].is_null());
  CHECK(first["vendor_best"]["samples_us"] == json({81, 79, 80}));
  CHECK(parsed["rows"][1]["own"].is_null());
  CHECK(parsed["rows"][1]["dispatched"].is_null());
  const json& group = parsed["groups"][0];
  CHECK(group["compared"] == 1);
  CHECK(group["rows"] == 2);
  CHECK(group["step"]["calls"] == 4);
  CHECK(group["step"]["compared"] == 3);
  CHECK(group["step"]["dispatched_us"] == doctest::Approx(300));
  CHECK(group["step"]["vs_best"] == doctest::Approx(0.8));
}

TEST_CASE("a report without a comparison says so, in one line") {
  BenchReport report;
  report.target.device = Device{};
  report.interrupted = true;
  CHECK(check_compared(report).error().message == "interrupted before any problem was compared");
  report.interrupted = false;
  report.rows = {row("a", 0, 120, 80)};
  report.rows[0].note = "because";
  CHECK(check_compared(report).error().message ==
        "no problem could be compared with cuBLASLt: p: because");
  CHECK(check_compared(report).error().kind == ErrorKind::failed);
  report.rows.push_back(row("a", 100, 120, 80));
  CHECK(check_compared(report));
  report.interrupted = true;  // some is better than nothing
  CHECK(check_compared(report));
  report.failure = "the device is gone";
  CHECK(check_compared(report).error().message == "the device is gone");
}

}  // namespace gemmtune::app
