#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/problem_options.h"
#include "cli/services.h"
#include "codegen/search_space.h"
#include "tuner/session.h"

namespace gemmtune::cli {

struct TuneOptions {
  ProblemOptions problems;
  TargetOptions target;
  std::vector<std::string> strategies;   // empty: all that compute the problem
  std::vector<std::string> space_files;  // replace the compiled-in spaces of their strategies
  std::optional<int> candidates;
  double seconds = 0;
  int jobs = 0;  // 0: as many as there are cores
  uint64_t seed = 1;
  bool fresh = false;
  bool warm = false;
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

// The spaces to search: those of `strategies` (all registered ones if empty), each from its file in
// `files` if there is one. With files and no strategies, only the files' spaces.
Expected<std::vector<codegen::SearchSpace>> choose_spaces(
    const std::vector<std::string>& strategies, const std::vector<std::string>& files);

// Tunes every problem that was asked for. Everything is checked before the database is opened, so
// an error of kind usage or unsupported leaves no trace. One of several problems that nothing
// computes yet, or that fails, is skipped; it is an error if nothing computes any.
Expected<TuneSummary> run_tune(const Context& context, const TuneOptions& options,
                               const std::atomic<bool>& stop, const TuneEvents& events);

}  // namespace gemmtune::cli
