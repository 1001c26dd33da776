#include "cli/capture/capture_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/table.h"
#include "core/problem.h"

namespace gemmtune::cli {
namespace {

constexpr size_t kRowsShown = 40;

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}%", 100 * part / whole) : "-";
}

std::string plural(int64_t n, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", n, n == 1 ? one : several);
}

std::string problems_text(const app::Captured& captured) {
  Table table({{"calls", kRight}, {"us/call", kRight}, {"share", kRight}, {"problem"}});
  const size_t shown = std::min(captured.problems.size(), kRowsShown);
  for (size_t i = 0; i < shown; ++i) {
    const app::CapturedProblem& row = captured.problems[i];
    table.add({std::to_string(row.calls), row.call_us ? fmt::format("{:.1f}", *row.call_us) : "-",
               share(row.total_us(), captured.total_us()), key(row.problem)});
  }
  std::string text = table.text();
  if (shown < captured.problems.size())
    text += fmt::format("and {} more\n", captured.problems.size() - shown);
  return text;
}

// All of a few values, else how many and from where to where.
std::string values(const std::vector<int64_t>& m) {
  constexpr size_t kAll = 6;
  if (m.size() <= kAll) return fmt::format("{}", fmt::join(m, " "));
  return fmt::format("{} values in {}..{}", m.size(), m.front(), m.back());
}

std::string families_text(const app::Captured& captured) {
  if (captured.families.empty()) return "";
  Table table({{"calls", kRight}, {"share", kRight}, {"one family over m"}, {"m"}});
  for (const app::Family& family : captured.families) {
    table.add({std::to_string(family.calls), share(family.total_us, captured.total_us()),
               family.text, values(family.m)});
  }
  return "\n" + table.text();
}

std::string others_text(const app::Captured& captured) {
  if (captured.others.empty()) return "";
  Table table({{"calls", kRight}, {"share", kRight}, {"not in the suite"}});
  for (const app::OtherProducts& other : captured.others) {
    table.add(
        {std::to_string(other.calls), share(other.total_us, captured.total_us()), other.reason});
  }
  return "\n" + table.text();
}

std::string notes_text(const app::Captured& captured) {
  int64_t graph_calls = 0;
  for (const app::CapturedProblem& problem : captured.problems) graph_calls += problem.graph_calls;
  std::string text;
  if (graph_calls > 0) {
    text += plural(graph_calls, "call was", "calls were") +
            " captured in CUDA graphs and counted once, however often the graphs ran\n";
  }
  if (captured.calls_left_out > 0)
    text += plural(captured.calls_left_out, "call", "calls") +
            " of further problems left out: a process has room for 4096\n";
  if (captured.unread_lines > 0)
    text += plural(captured.unread_lines, "line", "lines") + " of the log not understood\n";
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string capture_text(const app::CaptureReport& report) {
  const app::Captured& captured = report.captured;
  std::string text;
  if (!captured.problems.empty()) text += problems_text(captured);
  text += families_text(captured) + others_text(captured) + notes_text(captured);
  if (report.suite.empty()) return text;
  return text +
         fmt::format("\n{}: {}, {} in {}\n", report.suite,
                     plural(static_cast<int64_t>(captured.problems.size()), "problem", "problems"),
                     plural(captured.calls(), "call", "calls"),
                     plural(captured.processes, "process", "processes"));
}

}  // namespace gemmtune::cli
