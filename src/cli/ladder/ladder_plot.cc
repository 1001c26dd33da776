#include "cli/ladder/ladder_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/common/record_facts.h"
#include "cli/common/markup.h"
#include "cli/common/record_cells.h"

// A horizontal bar chart: one bar per rung, a dashed line where the vendor's best is.
namespace gemmtune::cli {
namespace {

// Pixels.
constexpr double kWidth = 920;
constexpr double kLeft = 150;         // of the bars; names stand before them
constexpr double kRightMargin = 200;  // space after the longest bar, for its figures
constexpr double kTop = 92;
constexpr double kRow = 34;
constexpr double kBar = 22;
constexpr double kBottom = 52;
constexpr double kPlotWidth = kWidth - kLeft - kRightMargin;
constexpr int kMostTicks = 6;
constexpr double kLabelGap = 8;          // between a bar or a line and a label
constexpr double kCharacterWidth = 8.5;  // of a label, at least what the widest of the fonts takes

// Plain colours first, for viewers that know no media queries.
constexpr std::string_view kStyle = R"(<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
.page { fill: #ffffff; }
.title { font-size: 17px; font-weight: 600; }
.muted { fill: #59636e; }
.grid { stroke: #d1d9e0; }
.bar { fill: #0969da; }
.vendor { stroke: #bc4c00; stroke-width: 2; stroke-dasharray: 6 4; }
.vendor-name { fill: #bc4c00; }
.figure { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.page { fill: #0d1117; }
.muted { fill: #9198a1; }
.grid { stroke: #3d444d; }
.bar { fill: #4493f8; }
.vendor { stroke: #f0883e; }
.vendor-name { fill: #f0883e; }
.figure { stroke: #0d1117; }
}
</style>
)";

// "46,379".
std::string grouped(double value) {
  std::string text = fmt::format("{:.0f}", value);
  for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string vertical_line(double x, double from, double to, std::string_view classes) {
  return fmt::format(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}" class="{3}"/>)"
                     "\n",
                     x, from, to, classes);
}

// 1, 2 or 5 times a power of ten, so that `most` has few ticks.
double tick_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)) - 1);
  for (const double factor : {1, 2, 5, 10, 20}) {
    if (most / (factor * power) <= kMostTicks) return factor * power;
  }
  return 50 * power;
}

struct Axis {
  double most;    // GFLOP/s at the right end
  double bottom;  // y of the axis

  double x(double gflops) const { return kLeft + gflops / most * kPlotWidth; }
};

std::string axis_svg(const Axis& axis) {
  std::string svg;
  const double step = tick_step(axis.most);
  for (int tick = 0; tick * step <= axis.most; ++tick) {
    const double x = axis.x(tick * step);
    svg += vertical_line(x, kTop, axis.bottom, "grid");
    svg += svg_text(x, axis.bottom + 18, "muted", "middle", grouped(tick * step));
  }
  return svg + svg_text(kLeft + kPlotWidth / 2, axis.bottom + 40, "muted", "middle", "GFLOP/s");
}

std::string bar_svg(const Axis& axis, double middle, const tuner::Rung& rung,
                    const app::RungFigures& f) {
  return svg_text(kLeft - 10, middle + 4, "name", "end", rung.strategy->name()) +
         fmt::format(
             R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="2" class="bar"><title>{}</title></rect>)"
             "\n",
             kLeft, middle - kBar / 2, axis.x(f.gflops) - kLeft, kBar,
             escaped(config_cell(*rung.best)));
}

// To the right of the bar, or of the vendor's line if the text would cross that.
std::string figure_svg(const Axis& axis, double middle, const app::RungFigures& f,
                       std::optional<double> vendor_gflops) {
  std::string figure = grouped(f.gflops);
  if (f.percent) figure += fmt::format(" ({:.1f}%)", *f.percent);
  double x = axis.x(f.gflops) + kLabelGap;
  if (vendor_gflops) {
    const double line = axis.x(*vendor_gflops);
    const double width = kCharacterWidth * static_cast<double>(figure.size());
    if (axis.x(f.gflops) <= line && line < x + width + kLabelGap) x = line + kLabelGap;
  }
  return svg_text(x, middle + 4, "figure", "start", figure);
}

std::string vendor_svg(const Axis& axis, double gflops) {
  const double x = axis.x(gflops);
  return vertical_line(x, kTop - 6, axis.bottom, "vendor") +
         svg_text(x, kTop - 14, "vendor-name", "middle",
                  fmt::format("cuBLASLt best: {} (100%)", grouped(gflops)));
}

std::string subtitle(const app::LadderSummary& summary) {
  if (!summary.target.device) {
    return fmt::format(
        "GFLOP/s of each strategy's best tile, predicted for {} as {}; nothing was measured",
        to_string(summary.target.arch), with_article(summary.target.limits.name));
  }
  return fmt::format("GFLOP/s of each strategy's best tile{}, measured on {}",
                     summary.report.vendor.best ? " and share of cuBLASLt's best" : "",
                     summary.target.device->name);
}

}  // namespace

std::string ladder_svg(const app::LadderSummary& summary) {
  const tuner::LadderReport& report = summary.report;
  const auto figures = app::rung_figures(report);
  Axis axis{1, kTop};
  std::optional<double> vendor;
  if (report.vendor.best)
    vendor = app::tflops(report.job.problem, *app::time_us(*report.vendor.best)) * 1e3;
  if (vendor) axis.most = *vendor;
  for (const auto& rung : figures) {
    if (!rung) continue;
    axis.most = std::max(axis.most, rung->gflops);
    axis.bottom += kRow;
  }
  const double height = axis.bottom + kBottom;
  const std::string title = "GEMM ladder: " + key(summary.problem);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)"
      "\n<title>{2}</title>\n{3}",
      kWidth, height, escaped(title), kStyle);
  svg += fmt::format(R"(<rect width="{}" height="{}" class="page"/>)"
                     "\n",
                     kWidth, height);
  svg += svg_text(24, 30, "title", "start", title);
  svg += svg_text(24, 50, "muted", "start", subtitle(summary));
  svg += axis_svg(axis);
  std::string labels;  // above the vendor's line, which is above the bars
  double middle = kTop + kRow / 2;
  for (size_t i = 0; i < figures.size(); ++i) {
    if (!figures[i]) continue;
    svg += bar_svg(axis, middle, report.rungs[i], *figures[i]);
    labels += figure_svg(axis, middle, *figures[i], vendor);
    middle += kRow;
  }
  if (vendor) svg += vendor_svg(axis, *vendor);
  return svg + labels + "</svg>\n";
}

}  // namespace gemmtune::cli
