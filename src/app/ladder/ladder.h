#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "app/tune/search.h"
#include "app/tune/spaces.h"
#include "tuner/session/ladder.h"

namespace gemmtune::app {

struct LadderOptions {
  ProblemOptions problem;
  TargetOptions target;
  std::vector<std::string> strategies;  // empty: all that compute the problem
  SearchOptions search;                 // of each strategy
};

// Called as the command goes on, in this order; each may be empty.
struct LadderEvents {
  std::function<void(const Target&)> on_target;
  std::function<tuner::ProgressFunction(const Problem&, std::string_view name)> on_rung;
};

struct LadderSummary {
  Problem problem;
  Target target;
  tuner::LadderReport report;
  std::vector<Refusal> refusals;  // strategies that do not compute the problem
};

// The best tile of every strategy that computes the problem, side by side. Everything is checked
// before the database is opened, so an error of kind usage or unsupported leaves no trace.
Expected<LadderSummary> ladder(const Context& context, const LadderOptions& options,
                               const std::atomic<bool>& stop, const LadderEvents& events);

// What is told of a rung beside its record.
struct RungFigures {
  double gflops = 0;
  std::optional<double> percent;  // of the vendor's best; none without a vendor
  std::optional<double> gain;     // over the rung below; none for the first
  double flops_per_global_byte = 0;
  std::optional<double> flops_per_shared_byte;  // none where no shared memory is used
};

// Parallel to report.rungs; none for a rung without a result.
std::vector<std::optional<RungFigures>> rung_figures(const tuner::LadderReport& report);

std::string ladder_json(const LadderSummary& summary);

}  // namespace gemmtune::app
