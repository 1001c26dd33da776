#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/common/context.h"
#include "app/common/problems.h"
#include "app/common/target.h"
#include "app/model/model_fit.h"
#include "app/tune/plan.h"
#include "app/tune/problem_clock.h"
#include "app/tune/trace.h"
#include "tuner/session/session.h"

namespace gemmtune::app {

struct TunedProblem {
  WantedProblem wanted;
  std::optional<Device> device;             // that tuned it
  std::optional<tuner::TuneReport> report;  // none: `skipped` says why
  std::string skipped;
  std::vector<TracePoint> trace;  // of the search: where it found a better one, and its end
};

// Called as the command goes on, in this order; each may be empty. On several devices problems
// begin and end between each other, on each device one after the other; all calls are of one
// thread.
struct TuneEvents {
  std::function<void(const Target&)> on_target;
  std::function<tuner::ProgressFunction(const WantedProblem&, const TunePlace&)> on_problem;
  std::function<void(const TunedProblem&)> on_result;
};

struct TuneSummary {
  Target target;
  std::vector<TunedProblem> problems;  // as they were asked for; up to where it was interrupted
  bool interrupted = false;
  std::optional<ArchFit> fit;  // what the model learnt from it, if that is kept
  double seconds = 0;          // of tune()
};

// Of the time of all devices, the share in which they verified and measured; nothing where none
// did.
std::optional<double> busy_share(const TuneSummary& summary);

// Tunes every problem that was asked for, in the order of plan_tune(). Everything is checked before
// the database is opened, so an error of kind usage or unsupported leaves no trace. One of several
// problems that nothing computes yet, or that fails, is skipped; it is an error if nothing computes
// any. With target.devices several problems are tuned at a time, each on a device of its own, by a
// process for each device. After several problems that were measured, the performance model learns
// from them (fit_if_grown). A problem whose process ends (after a kernel that crashes, no process
// can use the device) is tuned further by a new one, once.
Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events);

// Everything that was tuned, as one JSON object, ended by a newline.
std::string tune_json(const TuneSummary& summary);

}  // namespace gemmtune::app
