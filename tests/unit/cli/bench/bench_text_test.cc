#include "cli/bench/bench_text.h"
#include "app/bench/bench.h"
#include "app/bench/bench_choice.h"
#include "app/bench/bench_summary.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../contains.h"

namespace gemmtune::cli {
namespace {

tuner::BenchSide bench_side(double us, const char* config = "") {
  return {us, us, us, config};
}

app::BenchContender bench_contender(double us, app::BenchProvenance provenance) {
  return {"label", provenance, "reason", {}, bench_side(us, "strategy tile_m=1")};
}

// A row whose own kernel is what runs.
app::BenchRow bench_row(const char* group, double own, double first, double best,
                        int64_t count = 1) {
  app::BenchRow row;
  row.wanted.problem = make_problem({1000, 1000, 1000});
  row.wanted.group = group;
  row.wanted.text = "p";
  row.wanted.count = count;
  if (own > 0) row.dispatched = row.own = bench_contender(own, app::BenchProvenance::same_model);
  row.vendor_first = bench_side(first, "rank=0");
  row.vendor_best = bench_side(best, "rank=4");
  return row;
}

std::vector<std::string> bench_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("bench: table and CSV say the same") {
  app::BenchReport report;
  report.target.device = Device{};
  report.rows = {bench_row("a, \"b\"", 100, 120, 80, 3), bench_row("a, \"b\"", 0, 120, 80)};
  report.rows[1].note = "not tuned";
  report.groups = app::bench_groups(report.rows);
  const std::string text = bench_text(report);
  CHECK(contains(text, "1.200"));
  CHECK(contains(text, "0.800"));
  CHECK(contains(text, "not tuned"));
  CHECK(contains(text, "same model"));
  CHECK(contains(text, "all calls of one step"));
  CHECK(contains(text, "300.0"));
  report.beta = 0.5;
  const auto csv = bench_lines(bench_csv(report));
  REQUIRE(csv.size() == 3);
  CHECK(
      csv[1].starts_with("\"a, \"\"b\"\"\",f32,f32,ieee,ttt,1000,1000,1000,1,100,120,80,1.2,0.8,"));
  CHECK(csv[1].ends_with(",3,100,same model,1.2,0.8,strategy tile_m=1,f32,none,0.5,,,"));
  CHECK(contains(csv[2], ",1000,1,,120,80,,,"));
  for (const std::string& line : csv) {
    CAPTURE(line);
    const bool quoted = line.starts_with("\"");
    CHECK(std::count(line.begin(), line.end(), ',') == (quoted ? 30 : 29));
  }
}

TEST_CASE("bench: a sustained load has a table, columns and JSON where it was measured") {
  app::BenchReport report;
  report.target.device = Device{};
  report.rows = {bench_row("a", 100, 120, 80), bench_row("a", 50, 60, 40)};
  report.groups = app::bench_groups(report.rows);
  CHECK_FALSE(contains(bench_text(report), "J/TFLOP"));
  CHECK(bench_lines(bench_csv(report))[1].ends_with(",0,,,"));
  app::BenchRow& row = report.rows[0];
  row.dispatched->time->sustained = {200, 1500, 600};  // 2 * 10^9 operations: 60 J per 10^12
  row.vendor_best->sustained = {160, 1200, {}};
  row.vendor_first->sustained = {300, {}, 700};
  const auto lines = bench_lines(bench_text(report));
  const auto heading = std::find_if(lines.begin(), lines.end(),
                                    [](const std::string& line) { return contains(line, "MHz"); });
  REQUIRE(heading != lines.end());
  CHECK(contains(*(heading + 1), "200.0"));
  CHECK(contains(*(heading + 1), "10.0  1500    60.00"));
  CHECK(contains(*(heading + 1), "12.5  1200        -"));
  CHECK(contains(*(heading + 1), "1.500    0.800"));
  CHECK(*(heading + 2) == "");  // the second row has none
  CHECK(bench_lines(bench_csv(report))[1].ends_with(",0,200,300,160"));
  const std::string json = app::bench_json(report);
  CHECK(contains(json, "\"joules_per_tflop\": 60.0"));
  CHECK(contains(json, "\"sustained_vs_best\": 0.8"));
  CHECK(contains(json, "\"sustained_vs_first\": 1.5"));
  CHECK(contains(json, "\"sustained\": null"));
}

TEST_CASE("bench: what was interrupted says so, and is no text without rows") {
  app::BenchReport report;
  report.interrupted = true;
  CHECK(bench_text(report).empty());
  report.rows = {bench_row("a", 100, 120, 80)};
  report.groups = app::bench_groups(report.rows);
  CHECK(bench_text(report).ends_with("interrupted: this is what was compared until then\n"));
}

}  // namespace gemmtune::cli
