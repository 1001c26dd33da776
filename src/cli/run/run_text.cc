#include "cli/run/run_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common/table.h"
#include "core/problem.h"

namespace gemmtune::cli {
namespace {

constexpr size_t kRunRowsShown = 40;
constexpr double kUsPerMs = 1000;

std::string time(const std::optional<app::SampledTime>& time) {
  return time ? fmt::format("{:.1f} ({})", time->median_us, time->samples) : "-";
}

std::string saved(const app::RunProblem& problem) {
  const auto us = problem.saved_us();
  return us ? fmt::format("{:.2f}", *us / kUsPerMs) : "-";
}

std::string own_text(const app::RunReport& report) {
  Table table({{"calls", kRight},
               {"own", kRight},
               {"own us", kRight},
               {"cuBLAS us", kRight},
               {"saved ms", kRight},
               {"problem"},
               {"kernel or algorithm"}});
  size_t left = kRunRowsShown;
  for (const app::RunProblem& problem : report.problems) {
    if (!problem.took_its_place() || left == 0) continue;
    --left;
    table.add({std::to_string(problem.calls),
               std::to_string(problem.own_calls + problem.algorithm_calls), time(problem.own_time),
               time(problem.cublas_time), saved(problem), key(problem.problem), problem.what});
  }
  if (table.empty()) return "";
  return table.text() + "times are medians; in brackets, of how many calls\n";
}

std::string handed_on_text(const app::RunReport& report) {
  Table table({{"calls", kRight}, {"on cuBLAS"}, {"why"}});
  size_t left = kRunRowsShown;
  for (const app::RunProblem& problem : report.problems) {
    if (problem.took_its_place() || left == 0) continue;
    --left;
    table.add({std::to_string(problem.calls), key(problem.problem), problem.what});
  }
  for (const app::OtherProducts& other : report.others)
    table.add({std::to_string(other.calls), "-", other.reason});
  return table.empty() ? "" : table.text();
}

// Calls that cuBLAS made as asked for all the same.
std::string detours_text(const app::RunReport& report) {
  std::string text;
  for (size_t i = 0; i < cublas_preload::kDetours; ++i) {
    int64_t calls = 0;
    for (const app::RunProblem& problem : report.problems) {
      if (problem.took_its_place()) calls += problem.detours[i];
    }
    if (calls > 0) {
      text += fmt::format("{} {} {}", text.empty() ? "" : ",", calls,
                          app::detour_name(static_cast<cublas_preload::Detour>(i)));
    }
  }
  return text.empty() ? "" : "calls of these that went to cuBLAS:" + text + "\n";
}

std::string summary(const app::RunReport& report) {
  double us = 0;
  int64_t compared = 0;
  for (const app::RunProblem& problem : report.problems) {
    if (const auto part = problem.saved_us(); part) {
      us += *part;
      compared += problem.comparable_calls();
    }
  }
  std::string text =
      fmt::format("\n{} of {} products on own kernels", report.own_calls(), report.calls());
  if (report.algorithm_calls() > 0) {
    text += fmt::format(", {} on faster algorithms of cuBLASLt's", report.algorithm_calls());
  }
  if (compared > 0) {
    text += fmt::format(", {:.2f} ms saved by {} of them that could be compared", us / kUsPerMs,
                        compared);
  }
  text += "\n";
  if (report.calls_left_out > 0)
    text += fmt::format("{} calls of further problems were not looked at\n", report.calls_left_out);
  if (!report.missing.empty())
    text += fmt::format("{}: what is not tuned; gemm-tune tune --suite {}\n", report.missing,
                        report.missing);
  return text;
}

}  // namespace

std::string run_report_text(const app::RunReport& report) {
  if (report.calls() == 0) return "";
  const std::string own = own_text(report) + detours_text(report);
  const std::string handed_on = handed_on_text(report);
  return own + (own.empty() || handed_on.empty() ? "" : "\n") + handed_on + summary(report);
}

}  // namespace gemmtune::cli
