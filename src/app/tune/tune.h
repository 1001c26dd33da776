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
#include "codegen/search_space.h"
#include "tuner/session/session.h"

namespace gemmtune::app {

struct TuneOptions {
  ProblemOptions problems;
  TargetOptions target;
  std::vector<std::string> strategies;   // empty: all that compute the problem
  std::vector<std::string> space_files;  // replace the compiled-in spaces of their strategies
  std::string method = "model";          // see parse_method()
  std::string budget;                    // see take_budget(); empty: as `search` says
  std::string shard;                     // "2/8": only this part of the problems; empty: all
  SearchOptions search;
};

struct TunedProblem {
  WantedProblem wanted;
  std::optional<tuner::TuneReport> report;  // none: `skipped` says why
  std::string skipped;
};

// Called as the command goes on, in this order; each may be empty.
struct TuneEvents {
  std::function<void(const Target&)> on_target;
  std::function<std::function<void(const tuner::Progress&)>(const WantedProblem&)> on_problem;
  std::function<void(const TunedProblem&)> on_result;
};

struct TuneSummary {
  Target target;
  std::vector<TunedProblem> problems;
  bool interrupted = false;
};

// Tunes every problem that was asked for. Everything is checked before the database is opened, so
// an error of kind usage or unsupported leaves no trace. One of several problems that nothing
// computes yet, or that fails, is skipped; it is an error if nothing computes any.
Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events);

// Everything that was tuned, as one JSON object, ended by a newline.
std::string tune_json(const TuneSummary& summary);

}  // namespace gemmtune::app
