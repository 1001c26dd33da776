#include "cli/tune/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "app/common/record_facts.h"
#include "cli/common/markup.h"
#include "core/roofline.h"

namespace gemmtune::cli {
namespace {

// A logarithmic axis from `least` to `most`, both powers of ten, at pixels `from` to `to`.
struct LogAxis {
  double least;
  double most;
  double from;
  double to;

  double at(double value) const {
    const double share = std::log10(value / least) / std::log10(most / least);
    return from + std::clamp(share, 0.0, 1.0) * (to - from);
  }
};

LogAxis log_axis(double least, double most, double from, double to) {
  const double low = std::pow(10, std::floor(std::log10(least)));
  const double high = std::pow(10, std::ceil(std::log10(most)));
  return {low, high > low ? high : 10 * low, from, to};
}

struct RooflinePoint {
  std::string name;
  double intensity;  // operations per byte
  double own_tflops;
  double vendor_tflops;  // 0: none
  double peak_tflops;
};

std::vector<RooflinePoint> points_of(const app::TuneSummary& summary) {
  std::vector<RooflinePoint> points;
  for (const app::TunedProblem& tuned : summary.problems) {
    if (!tuned.report || tuned.report->ranking.empty()) continue;
    const Problem problem = canonical(tuned.wanted.problem);
    const auto own = app::time_us(tuned.report->ranking.front());
    if (!own) continue;
    const auto vendor = app::time_us(tuned.report->vendor.best);
    points.push_back({tuned.wanted.text, flops(problem) / least_bytes(problem),
                      app::tflops(problem, *own), vendor ? app::tflops(problem, *vendor) : 0,
                      peak_tflops(problem, summary.target.limits)});
  }
  return points;
}

constexpr double kChartWidth = 920;
constexpr double kChartHeight = 420;
constexpr double kChartLeft = 70;
constexpr double kChartRight = kChartWidth - 30;
constexpr double kChartTop = 20;
constexpr double kChartBottom = kChartHeight - 50;

std::string chart_line(double x1, double y1, double x2, double y2, std::string_view classes) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, classes);
}

std::string chart_label(double x, double y, std::string_view anchor, std::string_view content) {
  return svg_text(x, y, "muted", anchor, content);
}

std::string grid_svg(const LogAxis& x, const LogAxis& y) {
  std::string svg;
  for (double tick = x.least; tick <= x.most * 1.01; tick *= 10) {
    svg += chart_line(x.at(tick), kChartTop, x.at(tick), kChartBottom, "grid");
    svg += chart_label(x.at(tick), kChartBottom + 18, "middle", fmt::format("{:g}", tick));
  }
  for (double tick = y.least; tick <= y.most * 1.01; tick *= 10) {
    svg += chart_line(kChartLeft, y.at(tick), kChartRight, y.at(tick), "grid");
    svg += chart_label(kChartLeft - 8, y.at(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  svg += chart_label((kChartLeft + kChartRight) / 2, kChartBottom + 40, "middle",
                     "operations per byte of A, B and C (dot: own kernel, ring: cuBLASLt's best)");
  return svg + fmt::format(
                   "<text transform=\"translate(16 {:.1f}) rotate(-90)\" "
                   "text-anchor=\"middle\" class=\"muted\">TFLOP/s</text>\n",
                   (kChartTop + kChartBottom) / 2);
}

// Memory's slope up to where the units are the limit, and theirs from there on.
std::string roofs_svg(const LogAxis& x, const LogAxis& y, const std::vector<RooflinePoint>& points,
                      double tbytes_per_s) {
  std::set<double> peaks;
  for (const RooflinePoint& point : points) peaks.insert(point.peak_tflops);
  std::string svg;
  for (const double peak : peaks) {
    const double ridge = std::clamp(peak / tbytes_per_s, x.least, x.most);
    const double from = std::max(x.least, y.least / tbytes_per_s);
    if (from < ridge) {
      svg += chart_line(x.at(from), y.at(from * tbytes_per_s), x.at(ridge),
                        y.at(ridge * tbytes_per_s), "roof");
    }
    svg += chart_line(x.at(ridge), y.at(peak), kChartRight, y.at(peak), "roof");
    svg += chart_label(kChartRight, y.at(peak) - 6, "end", fmt::format("{:.0f} TFLOP/s", peak));
  }
  return svg;
}

std::string points_svg(const LogAxis& x, const LogAxis& y,
                       const std::vector<RooflinePoint>& points) {
  std::string svg;
  for (const RooflinePoint& point : points) {
    const std::string name = escaped(point.name);
    if (point.vendor_tflops > 0) {
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" class=\"vendor\"><title>{}: cuBLASLt {:.2f} "
          "TFLOP/s</title></circle>\n",
          x.at(point.intensity), y.at(point.vendor_tflops), name, point.vendor_tflops);
    }
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" class=\"own\"><title>{}: {:.2f} "
        "TFLOP/s</title></circle>\n",
        x.at(point.intensity), y.at(point.own_tflops), name, point.own_tflops);
  }
  return svg;
}

}  // namespace

std::string roofline_svg(const app::TuneSummary& summary) {
  const std::vector<RooflinePoint> points = points_of(summary);
  if (points.empty()) return "";
  double least_x = points.front().intensity;
  double most_x = least_x;
  double least_y = points.front().own_tflops;
  double most_y = least_y;
  for (const RooflinePoint& point : points) {
    least_x = std::min(least_x, point.intensity);
    most_x = std::max(most_x, point.intensity);
    for (const double tflops : {point.own_tflops, point.vendor_tflops}) {
      if (tflops > 0) least_y = std::min(least_y, tflops);
    }
    most_y = std::max({most_y, point.vendor_tflops, point.peak_tflops});
  }
  const LogAxis x = log_axis(least_x, most_x, kChartLeft, kChartRight);
  const LogAxis y = log_axis(least_y, most_y, kChartBottom, kChartTop);
  return fmt::format(
             "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
             "aria-label=\"Roofline\">\n",
             kChartWidth, kChartHeight) +
         grid_svg(x, y) + roofs_svg(x, y, points, summary.target.limits.memory_gb_per_s * 1e-3) +
         points_svg(x, y, points) + "</svg>\n";
}

std::string trace_svg(const std::vector<app::TracePoint>& trace) {
  if (trace.empty()) return "";
  constexpr double kTraceWidth = 460;
  constexpr double kTraceHeight = 110;
  constexpr double kTraceBottom = kTraceHeight - 22;
  constexpr double kTraceLeft = 40;
  constexpr double kMostRatio = 2;  // what is slower is drawn at the top
  const double last_us = trace.back().best_us;
  const double last = std::max(1, trace.back().candidates);
  const auto x = [&](int candidates) {
    return kTraceLeft + candidates / last * (kTraceWidth - kTraceLeft - 10);
  };
  const auto y = [&](double us) {
    const double over = std::clamp(us / last_us, 1.0, kMostRatio) - 1;
    return kTraceBottom - over / (kMostRatio - 1) * (kTraceBottom - 8);
  };
  std::string path;
  for (const app::TracePoint& point : trace) {
    path += path.empty() ? fmt::format("M{:.1f} {:.1f}", x(point.candidates), y(point.best_us))
                         : fmt::format("H{:.1f}V{:.1f}", x(point.candidates), y(point.best_us));
  }
  return fmt::format(
             "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
             "aria-label=\"Trace of the search\">\n",
             kTraceWidth, kTraceHeight) +
         chart_line(kTraceLeft, y(last_us), kTraceWidth - 10, y(last_us), "grid") +
         chart_line(kTraceLeft, y(2 * last_us), kTraceWidth - 10, y(2 * last_us), "grid") +
         chart_label(kTraceLeft - 6, y(last_us) + 4, "end", "1.0") +
         chart_label(kTraceLeft - 6, y(2 * last_us) + 4, "end", "2.0") +
         chart_label(
             kTraceWidth - 10, kTraceHeight - 6, "end",
             fmt::format("best so far over the last, {} candidates", trace.back().candidates)) +
         fmt::format("<path d=\"{}\" class=\"trace\"/>\n</svg>\n", path);
}

}  // namespace gemmtune::cli
