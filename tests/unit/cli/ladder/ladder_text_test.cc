#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "app/ladder/ladder.h"
#include "cli/ladder/ladder_plot.h"
#include "cli/ladder/ladder_text.h"

#include "../../app/ladder/ladder_fixture.h"
#include "../../contains.h"

namespace gemmtune::cli {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

// Whether tags nest, attributes are quoted, and nothing else holds '<' or a bare '&'. No CDATA, no
// comments, no declarations.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  size_t at = 0;
  while (at < xml.size()) {
    if (xml[at] == '&') {
      const size_t end = xml.find(';', at);
      const std::string name = xml.substr(at + 1, end - at - 1);
      if (name != "amp" && name != "lt" && name != "gt" && name != "quot") return false;
    }
    if (xml[at] != '<') {
      if (open.empty() && xml[at] != '\n') return false;
      ++at;
      continue;
    }
    const size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    std::string tag = xml.substr(at + 1, end - at - 1);
    if (count(tag, "<") > 0 || count(tag, "=\"") * 2 != count(tag, "\"")) return false;
    if (count(tag, "\"") == 0 && count(tag, "=") > 0) return false;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end + 1;
  }
  return open.empty();
}

// The left end of each rung's label in the picture.
std::vector<double> label_places(const std::string& svg) {
  std::vector<double> places;
  const std::string end = "class=\"figure\"";
  for (size_t at = svg.find(end); at != std::string::npos; at = svg.find(end, at + 1))
    places.push_back(std::stod(svg.substr(svg.rfind("x=\"", at) + 3)));
  return places;
}

double vendor_line_place(const std::string& svg) {
  return std::stod(svg.substr(svg.rfind("x1=\"", svg.find("class=\"vendor\"")) + 4));
}

}  // namespace

TEST_CASE("ladder: the table") {
  const std::string text = ladder_text(app::ladder_test::make_summary());
  CHECK(contains(text, "naive 32x32 "));
  CHECK(contains(text, "thread_tile_1d 64x64x8/8 "));
  CHECK(contains(text, " 40.0%"));
  CHECK(contains(text, "1.60x"));
  CHECK(contains(text, "25000"));
  CHECK(contains(text, "vectorized: no candidate worked\n"));
  CHECK(contains(text, "multistage: needs sm_80\n"));
}

TEST_CASE("ladder: the picture is well-formed and labelled") {
  CHECK(well_formed("<a b=\"c\"><d/>&amp;</a>\n"));
  CHECK_FALSE(well_formed("<a>"));
  CHECK_FALSE(well_formed("<a><b></a></b>"));
  CHECK_FALSE(well_formed("<a b=c/>"));
  CHECK_FALSE(well_formed("<a>x & y;</a>"));
  app::LadderSummary summary = app::ladder_test::make_summary();
  const std::string svg = ladder_svg(summary);
  CHECK(well_formed(svg));
  CHECK(count(svg, "class=\"bar\"") == 3);
  CHECK(contains(svg, "A &amp; B &lt;GPU&gt;"));
  CHECK(contains(svg, ">16,000 (64.0%)<"));
  CHECK(contains(svg, ">cuBLASLt best: 25,000 (100%)<"));
  CHECK(contains(svg, "<title>naive 32x32</title>"));
  CHECK(contains(svg, "prefers-color-scheme: dark"));
  CHECK_FALSE(contains(svg, "nan"));

  // A prediction has no vendor, says so, and its longest bar is a rung's.
  summary.target.device.reset();
  summary.report.vendor.first.reset();
  summary.report.vendor.best.reset();
  const std::string predicted = ladder_svg(summary);
  CHECK(well_formed(predicted));
  CHECK(contains(predicted, "nothing was measured"));
  CHECK_FALSE(contains(predicted, "class=\"vendor\""));
  CHECK(contains(predicted, ">20,000<"));
  CHECK_FALSE(contains(predicted, "%)"));
}

TEST_CASE("ladder: no label in the picture crosses the line of the vendor's best") {
  constexpr double kWidestLabel = 116;  // pixels of "20,000 (80.0%)"
  app::LadderSummary summary = app::ladder_test::make_summary();
  // From far below the vendor's 25 TFLOP/s to just below it, at it, and above it.
  for (const double us : {200.0, 125.0, 110.0, 100.0, 90.0, 80.1, 80.0, 79.9, 60.0}) {
    CAPTURE(us);
    summary.report.rungs = {app::ladder_test::make_rung("naive", "tile_m=32 tile_n=32", us)};
    const std::string svg = ladder_svg(summary);
    const std::vector<double> labels = label_places(svg);
    REQUIRE(labels.size() == 1);
    const double line = vendor_line_place(svg);
    CHECK((labels[0] + kWidestLabel < line || labels[0] > line + 5));
    CHECK(labels[0] + kWidestLabel < 920);  // the picture's width
  }
}

}  // namespace gemmtune::cli
