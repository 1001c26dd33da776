#include "cli/run/run_text.h"

#include <fmt/format.h>

#include <vector>

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

// Whether the program would have been faster without this kernel or algorithm.
bool lost_time(const app::RunProblem& problem) {
  return problem.took_its_place() && problem.saved_us().value_or(0) < 0;
}

// Of the problems on own kernels and algorithms, or of the others, those that are shown: the first
// ones, and all that lost time.
struct ShownProblems {
  std::vector<const app::RunProblem*> problems;
  size_t left_out = 0;
};

ShownProblems shown_problems(const app::RunReport& report, bool own) {
  ShownProblems shown;
  for (const app::RunProblem& problem : report.problems) {
    if (problem.took_its_place() != own) continue;
    if (shown.problems.size() < kRunRowsShown || lost_time(problem))
      shown.problems.push_back(&problem);
    else
      ++shown.left_out;
  }
  return shown;
}

std::string left_out_text(const ShownProblems& shown) {
  if (shown.left_out == 0) return "";
  return fmt::format("and {} more, which -o FILE has\n", shown.left_out);
}

std::string own_text(const app::RunReport& report) {
  Table table({{"calls", kRight},
               {"own", kRight},
               {"own us", kRight},
               {"cuBLAS us", kRight},
               {"saved ms", kRight},
               {"problem"},
               {"kernel or algorithm"}});
  const ShownProblems shown = shown_problems(report, true);
  for (const app::RunProblem* problem : shown.problems) {
    table.add({std::to_string(problem->calls),
               std::to_string(problem->own_calls + problem->algorithm_calls),
               time(problem->own_time), time(problem->cublas_time), saved(*problem),
               key(problem->problem), problem->what});
  }
  if (table.empty()) return "";
  return table.text() + left_out_text(shown) +
         "times are medians; in brackets, of how many calls\n";
}

std::string handed_on_text(const app::RunReport& report) {
  Table table({{"calls", kRight}, {"on cuBLAS"}, {"why"}});
  const ShownProblems shown = shown_problems(report, false);
  for (const app::RunProblem* problem : shown.problems)
    table.add({std::to_string(problem->calls), key(problem->problem), problem->what});
  for (const app::OtherProducts& other : report.others)
    table.add({std::to_string(other.calls), "-", other.reason});
  return table.empty() ? "" : table.text() + left_out_text(shown);
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
