#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "../../contains.h"
#include "cli/tune/report/charts.h"
#include "cli/tune/report/html_report.h"
#include "core/device.h"

namespace gemmtune::cli {
namespace {

store::Record record_of(double us, const char* strategy, const char* config) {
  store::Record record;
  record.key.strategy = strategy;
  record.key.config = config;
  record.provenance = store::Provenance::measured;
  record.measurement.emplace();
  record.measurement->median_us = us;
  return record;
}

// One problem with both times, one without any, and one that is skipped.
app::TuneSummary a_summary() {
  app::TuneSummary summary;
  summary.target.limits = *find_device_spec("NVIDIA H200");
  summary.target.arch = {9, 0, false};
  app::TunedProblem both;
  both.wanted = {make_problem({4096, 4096, 4096}), "first <problem>", "", "", 12};
  both.report.emplace();
  both.report->ranking = {record_of(2500, "naive", "tile_m=8 tile_n=32")};
  both.report->vendor.best = record_of(2750, "cublaslt", "algo=1 & more");
  for (store::Record* record : {&both.report->ranking.front(), &*both.report->vendor.best})
    record->job.problem = both.wanted.problem;
  both.trace = {{1, 5000}, {10, 2600}, {20, 2500}};
  app::TunedProblem none;
  none.wanted = {make_problem({64, 64, 64}), "second", "", "", 1};
  none.report.emplace();
  app::TunedProblem skipped;
  skipped.wanted = {{}, "third", "", "i8 is not supported", 1};
  skipped.skipped = "i8 is not supported";
  summary.problems = {both, none, skipped};
  return summary;
}

TEST_CASE("a report has own times and cuBLASLt's, and what could not be tuned") {
  const std::string html =
      tune_report_html(a_summary(), {{"first <problem>", "if (a < b) return;"}});
  CHECK(contains(html, "first &lt;problem&gt;"));
  CHECK(!contains(html, "first <problem>"));
  CHECK(contains(html, "faster\">1.100x"));
  CHECK(contains(html, "<details data-runs=\"[[0,1]]\"><summary>CUDA source"));
  CHECK(contains(html, "id=\"lines\">[\"if (a < b) return;\"]</script>"));
  CHECK(contains(html, "algo=1 &amp; more"));
  CHECK(contains(html, "no candidate was finished"));
  CHECK(contains(html, "i8 is not supported"));
  CHECK(contains(html, "best 33.000 ms, own kernels 30.000 ms (1.100x)"));
}

// Tags of a page that end nothing are those of SVG's shapes and the head's.
TEST_CASE("a report is a page whose elements are closed, that needs nothing else") {
  app::TuneSummary summary = a_summary();
  summary.target.limits.name = "<GPU> & \"co\"";
  summary.problems[0].wanted.text = "</details><b title=\"x\">";
  for (int i = 0; i < 300; ++i) summary.problems.push_back(summary.problems[0]);
  const std::string html = tune_report_html(summary, {{summary.problems[0].wanted.text, "a<b"}});
  CHECK(!contains(html, "<b "));
  CHECK(!contains(html, "http"));
  CHECK(!contains(html, " src="));
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const size_t end = html.find('>', at);
    REQUIRE(end != std::string::npos);
    const std::string tag = html.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (const size_t id = tag.find(" id=\""); id != std::string::npos)
      CHECK(ids.insert(tag.substr(id)).second);
    if (tag.starts_with("/")) {
      REQUIRE(!open.empty());
      CHECK(name.substr(1) == open.back());
      open.pop_back();
    } else if (tag.back() != '/' && tag[0] != '!' && name != "meta" && name != "script") {
      open.push_back(name);
    } else if (name == "script") {
      at = html.find("</script>", at);
    }
  }
  CHECK(open.empty());
  CHECK(ids.size() == 302);  // with that of the lines of sources
}

TEST_CASE("a report has what sources have in common once, and no source ends its element") {
  app::TuneSummary summary = a_summary();
  std::string source = "// </script><b>\n";
  for (int i = 0; i < 2000; ++i) source += "x" + std::to_string(i) + ";\n";
  std::map<std::string, std::string> sources;
  for (int i = 0; i < 300; ++i) {
    summary.problems.push_back(summary.problems[0]);
    summary.problems.back().wanted.text = "p" + std::to_string(i);
    sources[summary.problems.back().wanted.text] =
        source + "constexpr int kTile = " + std::to_string(i) + ";\n";
  }
  const std::string html = tune_report_html(summary, sources);
  CHECK(html.size() < tune_report_html(summary, {}).size() + 100'000);
  CHECK(contains(html, "// <\\/script><b>"));
}

TEST_CASE("a report can be printed, and read in a narrow window") {
  const std::string html = tune_report_html(a_summary(), {});
  CHECK(contains(html, "@media print { .scroll, pre { overflow: visible; }"));
  CHECK(contains(html, "<div class=\"scroll\"><svg viewBox=\"0 0 920 420\""));
  app::TuneSummary nothing = a_summary();
  nothing.problems = {nothing.problems[1]};
  CHECK(!contains(tune_report_html(nothing, {}), "<h2>"));
  CHECK(!contains(tune_report_html(nothing, {}), "<strong></strong>"));
}

TEST_CASE("rooflines show both, and searches end at their best") {
  const std::string roofline = roofline_svg(a_summary());
  CHECK(contains(roofline, "first &lt;problem&gt;: 54.98 TFLOP/s"));
  CHECK(contains(roofline, "cuBLASLt 49.98 TFLOP/s"));
  CHECK(contains(roofline, "67 TFLOP/s"));
  CHECK(!contains(roofline, "nan"));
  const std::string trace = trace_svg(a_summary().problems.front().trace);
  CHECK(contains(trace, "20 candidates"));
  CHECK(!contains(trace, "nan"));
  CHECK(trace_svg({{1, 100}}) != "");
  CHECK(trace_svg({}) == "");
  CHECK(roofline_svg({}) == "");
}

}  // namespace
}  // namespace gemmtune::cli
