#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "app/tune/plan.h"
#include "tuner/session/session.h"

namespace gemmtune::app {

// The best time so far, when `candidates` had been tried.
struct TracePoint {
  int candidates = 0;
  double best_us = 0;
};

struct TunedProblem {
  WantedProblem wanted;
  std::optional<tuner::TuneReport> report;  // none: `skipped` says why
  std::string skipped;
  std::vector<TracePoint> trace;  // of the search: where it found a better one, and its end
};

// How far a command is among its problems.
struct TunePlace {
  size_t number = 1;  // of the problem that begins
  size_t count = 1;
  std::optional<double> seconds_left;  // if the others take as long as those before; none at first
};

// Called as the command goes on, in this order; each may be empty.
struct TuneEvents {
  std::function<void(const Target&)> on_target;
  std::function<std::function<void(const tuner::Progress&)>(const WantedProblem&, const TunePlace&)>
      on_problem;
  std::function<void(const TunedProblem&)> on_result;
};

struct TuneSummary {
  Target target;
  std::vector<TunedProblem> problems;  // as they were asked for; up to where it was interrupted
  bool interrupted = false;
};

// Tunes every problem that was asked for, in the order of plan_tune(). Everything is checked before
// the database is opened, so an error of kind usage or unsupported leaves no trace. One of several
// problems that nothing computes yet, or that fails, is skipped; it is an error if nothing computes
// any.
Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events);

// Everything that was tuned, as one JSON object, ended by a newline.
std::string tune_json(const TuneSummary& summary);

}  // namespace gemmtune::app
