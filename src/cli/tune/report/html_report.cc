#include "cli/tune/report/html_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/common/record_facts.h"
#include "app/common/version.h"
#include "cli/common/markup.h"
#include "cli/common/record_cells.h"
#include "cli/tune/report/charts.h"
#include "cli/tune/report/shared_lines.h"
#include "cli/tune/tune_text.h"
#include "core/json_text.h"
#include "core/roofline.h"

namespace gemmtune::cli {
namespace {

constexpr std::string_view kPageHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gemm-tune</title>
<style>
:root { color-scheme: light dark; --text: #1f2328; --page: #ffffff; --muted: #59636e; --line: #d1d9e0;
  --own: #0969da; --vendor: #bc4c00; --code: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --page: #0d1117; --muted: #9198a1;
  --line: #3d444d; --own: #4493f8; --vendor: #f0883e; --code: #151b23; } }
body { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--text);
  background: var(--page); max-width: 1500px; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 3px 10px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
.faster { color: var(--own); font-weight: 600; }
.slower { color: var(--vendor); }
.muted, svg .muted { color: var(--muted); fill: var(--muted); }
svg { display: block; }
svg text { font-size: 12px; }
.grid { stroke: var(--line); }
.roof { stroke: var(--muted); stroke-width: 1.5; }
.own { fill: var(--own); }
.vendor { fill: none; stroke: var(--vendor); stroke-width: 2; }
.trace { fill: none; stroke: var(--own); stroke-width: 2; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 8px 0; padding: 6px 12px; }
summary { cursor: pointer; }
td.tile { font-size: 12px; }
pre { background: var(--code); padding: 10px; overflow: auto; max-height: 36em; font-size: 12px; }
@media print { .scroll, pre { overflow: visible; } pre { max-height: none; white-space: pre-wrap; }
  body { max-width: none; margin: 0; } table { font-size: 9px; } tr, svg { break-inside: avoid; }
  td.tile { font-size: 8px; overflow-wrap: anywhere; } svg { max-width: 100%; height: auto; } }
</style>
</head>
<body>
)";

// A link to a problem opens it, and a source is put together from its runs of lines when it opens.
constexpr std::string_view kScript = R"(<script>
const open = () => { const e = location.hash && document.querySelector(location.hash); if (e) e.open = true; };
addEventListener("hashchange", open);
open();
const lines = JSON.parse(document.getElementById("lines").textContent);
for (const source of document.querySelectorAll("details[data-runs]"))
  source.addEventListener("toggle", () => {
    const runs = JSON.parse(source.dataset.runs);
    source.querySelector("pre").textContent = runs.flatMap(([first, count]) => lines.slice(first, first + count)).join("\n");
  }, { once: true });
</script>
<noscript><p class="muted">Sources are shown by JavaScript; <code>gemm-tune emit</code> prints them, too.</p></noscript>
)";

std::string html_cell(std::string_view content, std::string_view css_class = "number") {
  return fmt::format("<td class=\"{}\">{}</td>", css_class, escaped(content));
}

struct Heading {
  std::string_view name;
  bool is_number = true;
};

std::string header_row(std::initializer_list<Heading> headings) {
  std::string html = "<tr>";
  for (const Heading& heading : headings)
    html +=
        fmt::format("<th{}>{}</th>", heading.is_number ? " class=\"number\"" : "", heading.name);
  return html + "</tr>\n";
}

std::string ratio_html(std::optional<double> own_us, std::optional<double> vendor_us) {
  if (!own_us || !vendor_us) return html_cell("-");
  const double ratio = *vendor_us / *own_us;
  return fmt::format("<td class=\"number {}\">{:.3f}x</td>", ratio >= 1 ? "faster" : "slower",
                     ratio);
}

std::string problem_row(const app::TunedProblem& tuned, size_t index, const DeviceSpec& device) {
  const std::string calls = html_cell(std::to_string(tuned.wanted.count));
  if (!tuned.report || tuned.report->ranking.empty()) {
    return fmt::format("<tr>{}<td>{}</td><td colspan=\"7\" class=\"muted\">{}</td></tr>\n", calls,
                       escaped(tuned.wanted.text),
                       escaped(tuned.report ? "no candidate was finished" : tuned.skipped));
  }
  const tuner::TuneReport& report = *tuned.report;
  const store::Record& best = report.ranking.front();
  const auto own = app::time_us(best);
  const auto vendor = app::time_us(report.vendor.best);
  const double floor = floor_us(canonical(tuned.wanted.problem), device);
  return fmt::format("<tr>{}<td><a href=\"#p{}\">{}</a></td>", calls, index,
                     escaped(tuned.wanted.text)) +
         html_cell(time_cell(own)) + html_cell(time_cell(vendor)) + ratio_html(own, vendor) +
         html_cell(tflops_cell(best)) +
         html_cell(own ? fmt::format("{:.0f}%", floor / *own * 100) : "-") +
         html_cell(fmt::format("{:.1f}", report.seconds)) + html_cell(config_cell(best), "tile") +
         "</tr>\n";
}

std::string overview_table(const app::TuneSummary& summary) {
  std::string html = "<div class=\"scroll\"><table>\n";
  html += header_row({{"calls"},
                      {"problem", false},
                      {"time us"},
                      {"cuBLASLt us"},
                      {"ratio"},
                      {"TFLOP/s"},
                      {"of the roofline"},
                      {"search s"},
                      {"strategy and tile", false}});
  size_t index = 0;
  for (const app::TunedProblem& tuned : summary.problems)
    html += problem_row(tuned, index++, summary.target.limits);
  return html + "</table></div>\n";
}

std::string finalists_table(const tuner::TuneReport& report) {
  std::string html = "<div class=\"scroll\"><table>\n";
  html += header_row({{"time us"},
                      {"TFLOP/s"},
                      {"ratio"},
                      {"registers"},
                      {"shared memory B"},
                      {"strategy and tile", false}});
  const auto vendor = app::time_us(report.vendor.best);
  for (const store::Record& record : report.ranking) {
    html += "<tr>" + html_cell(time_cell(app::time_us(record))) + html_cell(tflops_cell(record)) +
            ratio_html(app::time_us(record), vendor) + html_cell(std::to_string(record.registers)) +
            html_cell(std::to_string(record.smem_bytes)) + html_cell(config_cell(record), "tile") +
            "</tr>\n";
  }
  if (report.vendor.best) {
    html += "<tr>" + html_cell(time_cell(vendor)) + html_cell(tflops_cell(*report.vendor.best)) +
            html_cell("1.000x") + html_cell("") + html_cell("") +
            html_cell("cuBLASLt's best: " + report.vendor.best->key.config, "tile") + "</tr>\n";
  }
  return html + "</table></div>\n";
}

// As wide as it is drawn, also in a narrow window, where its text would be too small.
std::string chart(const std::string& svg) {
  return svg.empty() ? svg : "<div class=\"scroll\">" + svg + "</div>\n";
}

// Filled in by kScript when it is opened.
std::string source_details(const std::vector<SharedLines::Run>& runs) {
  return fmt::format(
      "<details data-runs=\"{}\"><summary>CUDA source of the best</summary><pre></pre></details>\n",
      to_text(nlohmann::ordered_json(runs), kOneLine));
}

// As an element of its own, which no line can end.
std::string lines_element(const SharedLines& shared) {
  std::string json = to_text(nlohmann::ordered_json(shared.lines()), kOneLine);
  for (size_t at = json.find("</"); at != std::string::npos; at = json.find("</", at))
    json.replace(at, 2, "<\\/");
  return "<script type=\"application/json\" id=\"lines\">" + json + "</script>\n";
}

std::string problem_details(const app::TunedProblem& tuned, size_t index, const std::string* source,
                            SharedLines& shared) {
  const tuner::TuneReport& report = *tuned.report;
  std::string html =
      fmt::format("<details id=\"p{}\"><summary>{}</summary>\n", index, escaped(tuned.wanted.text));
  html += finalists_table(report);
  html += "<p class=\"muted\">" + escaped(counts_line(report)) + "</p>\n" +
          chart(trace_svg(tuned.trace));
  if (source != nullptr) html += source_details(shared.add(*source));
  return html + "</details>\n";
}

}  // namespace

std::string tune_report_html(const app::TuneSummary& summary,
                             const std::map<std::string, std::string>& sources) {
  std::string html(kPageHead);
  html +=
      fmt::format("<h1>gemm-tune</h1>\n<p>{}{}</p>\n", escaped(app::target_line(summary.target)),
                  summary.interrupted ? " Interrupted." : "");
  html += overview_table(summary);
  if (const std::string step = step_line(summary); !step.empty())
    html += "<p><strong>" + escaped(step) + "</strong></p>\n";
  const std::string rooflines = chart(roofline_svg(summary));
  if (!rooflines.empty()) html += "<h2>Rooflines</h2>\n" + rooflines + "<h2>Problems</h2>\n";
  size_t index = 0;
  SharedLines shared;
  for (const app::TunedProblem& tuned : summary.problems) {
    const auto source = sources.find(tuned.wanted.text);
    if (tuned.report && !tuned.report->ranking.empty())
      html += problem_details(tuned, index, source == sources.end() ? nullptr : &source->second,
                              shared);
    ++index;
  }
  html += lines_element(shared);
  html += kScript;
  return html + fmt::format("<p class=\"muted\">Written by gemm-tune {}.</p>\n</body>\n</html>\n",
                            app::kVersion);
}

}  // namespace gemmtune::cli
