#include "app/run/run_report.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/arch.h"
#include "core/device.h"
#include "core/roofline.h"
#include "dispatch/winner.h"

namespace gemmtune::app {
namespace {

using cublas_preload::Ran;

struct MergedRun {
  RunProblem problem;
  std::vector<float> own_us;
  std::vector<float> cublas_us;
};

std::optional<SampledTime> sampled_median(std::vector<float> values) {
  const auto samples = static_cast<int64_t>(values.size());
  const auto middle = median(std::move(values));
  if (!middle) return std::nullopt;
  return SampledTime{*middle, samples};
}

void add(MergedRun& merged, const ProductCount& count) {
  RunProblem& problem = merged.problem;
  const cublas_preload::RunRecord& run = count.run;
  const bool taken = cublas_preload::took_its_place(run.ran);
  // Of several kinds of calls, those with a kernel say what ran, then those with an algorithm.
  if (run.ran == Ran::own || (taken && !problem.own) || problem.what.empty()) {
    problem.what = run.ran == Ran::undecided
                       ? "only called under capture, before its kernel was loaded"
                       : run.text.data();
  }
  problem.own = problem.own || run.ran == Ran::own;
  problem.algorithm = problem.algorithm || run.ran == Ran::algorithm;
  problem.calls += count.calls;
  (run.ran == Ran::algorithm ? problem.algorithm_calls : problem.own_calls) +=
      static_cast<int64_t>(run.own_calls);
  problem.own_graph_calls += static_cast<int64_t>(run.own_graph_calls);
  for (size_t i = 0; i < run.detours.size(); ++i)
    problem.detours[i] += static_cast<int64_t>(run.detours[i]);
  if (run.tuned_us > 0) {
    problem.tuned_us = run.tuned_us;
    problem.tuned_vendor_us = run.tuned_vendor_us;
  }
  merged.own_us.insert(merged.own_us.end(), count.own_us.begin(), count.own_us.end());
  merged.cublas_us.insert(merged.cublas_us.end(), count.us.begin(), count.us.end());
}

int64_t sum_of(const std::vector<RunProblem>& problems, int64_t RunProblem::*calls) {
  int64_t sum = 0;
  for (const RunProblem& problem : problems) sum += problem.*calls;
  return sum;
}

// What a problem's calls take at least on a GPU of the newest arch: which of two matters more is
// much the same on any.
double least_us(const RunProblem& problem) {
  return static_cast<double>(problem.calls) *
         floor_us(problem.problem, representative_device(known_archs().back()));
}

}  // namespace

std::optional<double> RunProblem::saved_us() const {
  if (!own_time || !cublas_time) return std::nullopt;
  return (cublas_time->median_us - own_time->median_us) * static_cast<double>(comparable_calls());
}

int64_t RunReport::calls() const {
  int64_t sum = sum_of(problems, &RunProblem::calls);
  for (const OtherProducts& other : others) sum += other.calls;
  return sum;
}

int64_t RunReport::own_calls() const {
  return sum_of(problems, &RunProblem::own_calls);
}

int64_t RunReport::algorithm_calls() const {
  return sum_of(problems, &RunProblem::algorithm_calls);
}

RunReport run_report(const ProductCounts& counts) {
  std::map<std::string, MergedRun> problems;
  RunReport report;
  report.others = for_each_problem(counts, [&](const Problem& problem, const ProductCount& count) {
    MergedRun& merged = problems[key(problem)];
    merged.problem.problem = problem;
    add(merged, count);
  });
  for (auto& [text, merged] : problems) {
    merged.problem.own_time = sampled_median(std::move(merged.own_us));
    merged.problem.cublas_time = sampled_median(std::move(merged.cublas_us));
    report.problems.push_back(std::move(merged.problem));
  }
  const auto rank = [](const RunProblem& problem) {
    return std::tuple(problem.took_its_place(), problem.saved_us().value_or(0), least_us(problem));
  };
  std::stable_sort(report.problems.begin(), report.problems.end(),
                   [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
  std::stable_sort(report.others.begin(), report.others.end(),
                   [](const auto& a, const auto& b) { return a.calls > b.calls; });
  report.calls_left_out = counts.calls_left_out;
  report.processes = counts.processes;
  return report;
}

ProductCounts not_tuned(const ProductCounts& counts) {
  ProductCounts missing;
  missing.processes = counts.processes;
  for (const ProductCount& count : counts.products) {
    if (count.run.ran == Ran::cublas && count.run.text.data() == dispatch::kNotTuned)
      missing.products.push_back(count);
  }
  return missing;
}

std::string_view detour_name(cublas_preload::Detour detour) {
  using cublas_preload::Detour;
  switch (detour) {
    case Detour::timed:
      return "timed";
    case Detour::algorithm:
      return "algorithm";
    case Detour::capture:
      return "capture";
    case Detour::workspace:
      return "workspace";
    case Detour::operands:
      return "operands";
    case Detour::failure:
      return "failure";
    case Detour::slower:
      return "slower";
  }
  return "";
}

}  // namespace gemmtune::app
