#include "app/tune/tune.h"

#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/common/device_list.h"
#include "app/common/equipment.h"
#include "app/common/records.h"
#include "app/tune/devices/device_tuner.h"
#include "app/tune/searches.h"
#include "core/seconds_since.h"

namespace gemmtune::app {
namespace {

using Clock = std::chrono::steady_clock;
using EvaluatorResult = Expected<std::unique_ptr<tuner::Evaluator>>;
using Results = std::vector<std::optional<TunedProblem>>;  // by problem; none where interrupted

Expected<tuner::TuneReport> tune_one(const PlannedProblem& item, const TunePlace& place,
                                     EvaluatorResult evaluator, Searches& searches,
                                     const TuneEvents& events, std::vector<TracePoint>& trace) {
  if (!evaluator) {
    searches.drop_next();
    return tl::unexpected(evaluator.error());
  }
  auto tuning = searches.next();
  if (!tuning) return tl::unexpected(tuning.error());
  tuner::ProgressFunction on_progress;
  if (events.on_problem) on_progress = events.on_problem(item.wanted, place);
  const auto noted = [&trace, &searches, on_progress](const tuner::Progress& progress) {
    if (progress.ends) searches.begin_ahead();
    note(progress, trace);
    if (on_progress) on_progress(progress);
  };
  return std::move(*tuning).run(**evaluator, noted);
}

// One after the other, on one device or by the model, in this process.
Expected<Results> tune_in_turn(const Context& context, const TunePlan& plan,
                               const tuner::Equipment& equipment, const std::atomic<bool>& stop,
                               const TuneEvents& events) {
  // The first evaluator before the store: what a device refuses must leave no empty database.
  const size_t first = plan.order.front();
  std::optional<EvaluatorResult> first_evaluator =
      tuner::make_evaluator(plan.problems[first].request, equipment);
  const bool only_one = plan.problems.size() == 1;
  if (!*first_evaluator && only_one) return tl::unexpected(first_evaluator->error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  if (events.on_target) events.on_target(plan.target);
  Searches searches(plan, equipment, **store, stop);
  ProblemClock clock(count_planned(plan.problems), 1);
  Results all(plan.problems.size());
  for (const size_t i : plan.order) {
    if (stop.load()) break;
    const PlannedProblem& item = plan.problems[i];
    TunedProblem tuned{item.wanted, plan.target.device, std::nullopt, item.skipped, {}};
    if (item.skipped.empty()) {
      const auto begun = Clock::now();
      auto evaluator = i == first ? std::exchange(first_evaluator, std::nullopt).value()
                                  : tuner::make_evaluator(item.request, equipment);
      auto report =
          tune_one(item, clock.begin(), std::move(evaluator), searches, events, tuned.trace);
      clock.end(seconds_since(begun));
      // One problem that cannot be tuned is no reason to drop the others; a broken store is.
      const bool fatal = !report && (only_one || report.error().kind == ErrorKind::io);
      if (fatal) return tl::unexpected(report.error());
      if (!report) tuned.skipped = report.error().message;
      if (report) tuned.report = std::move(*report);
    }
    if (events.on_result) events.on_result(tuned);
    all[i] = std::move(tuned);
  }
  return all;
}

Expected<Results> tune_at_once(const Context& context, const TuneOptions& options,
                               const TunePlan& plan, const std::atomic<bool>& stop,
                               const TuneEvents& events) {
  if (options.worker_program.empty())
    return make_error(ErrorKind::unsupported, "--devices: this program starts no processes");
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  if (events.on_target) events.on_target(plan.target);
  return tune_on_devices({context, options, plan, **store, stop, events});
}

// Whether not all was tuned that was to be.
bool was_interrupted(const Results& results) {
  return std::any_of(results.begin(), results.end(), [](const auto& tuned) {
    return !tuned || (tuned->report && tuned->report->interrupted);
  });
}

// The problems that were tuned, as they were asked for.
std::vector<TunedProblem> as_asked(Results tuned) {
  std::vector<TunedProblem> all;
  for (std::optional<TunedProblem>& one : tuned) {
    if (one) all.push_back(*std::move(one));
  }
  return all;
}

// What was tuned stays what it is, whatever becomes of this.
std::optional<ArchFit> learn(const Context& context, const TunePlan& plan) {
  if (!plan.target.device || count_planned(plan.problems) < 2) return std::nullopt;
  auto fit = fit_if_grown(context, plan.target.arch);
  if (fit) return *std::move(fit);
  context.log->warn("the model learnt nothing: {}", fit.error().message);
  return std::nullopt;
}

}  // namespace

std::optional<double> busy_share(const TuneSummary& summary) {
  double busy_seconds = 0;
  for (const TunedProblem& tuned : summary.problems) {
    if (tuned.report) busy_seconds += tuned.report->busy_seconds;
  }
  if (busy_seconds <= 0 || summary.seconds <= 0) return std::nullopt;
  const size_t devices = std::max<size_t>(1, count_distinct(summary.target.devices));
  return busy_seconds / (summary.seconds * static_cast<double>(devices));
}

Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events) {
  const auto start = Clock::now();
  auto plan = plan_tune(context, options);
  if (!plan) return tl::unexpected(plan.error());
  const bool several = plan->target.devices.size() > 1;
  // Where processes of their own measure, this one only says whether there is a compiler.
  Target own = plan->target;
  if (several) own.device.reset();
  auto equipment = load_equipment(context, plan->machine, own);
  if (!equipment) return tl::unexpected(equipment.error());
  auto results = several ? tune_at_once(context, options, *plan, stop, events)
                         : tune_in_turn(context, *plan, *equipment, stop, events);
  if (!results) return tl::unexpected(results.error());
  TuneSummary summary;
  summary.target = plan->target;
  summary.interrupted = was_interrupted(*results);
  summary.problems = as_asked(*std::move(results));
  prune_cache(context, *equipment->compiler);
  if (!summary.interrupted) summary.fit = learn(context, *plan);
  summary.seconds = seconds_since(start);
  return summary;
}

}  // namespace gemmtune::app
