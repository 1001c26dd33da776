#include "app/tune/tune.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/common/equipment.h"
#include "app/common/records.h"

namespace gemmtune::app {
namespace {

using EvaluatorResult = Expected<std::unique_ptr<tuner::Evaluator>>;

// Tells where a command is among its problems.
class ProblemClock {
 public:
  explicit ProblemClock(const TunePlan& plan)
      : count_(static_cast<size_t>(
            std::count_if(plan.problems.begin(), plan.problems.end(),
                          [](const PlannedProblem& p) { return p.skipped.empty(); }))) {}

  // Of the problem that begins.
  TunePlace next() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    TunePlace place{++begun_, count_, std::nullopt};
    const auto ended = static_cast<double>(begun_ - 1);
    if (begun_ > 1) place.seconds_left = seconds / ended * static_cast<double>(count_ - begun_ + 1);
    return place;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  size_t count_;
  size_t begun_ = 0;
};

void note(const tuner::Progress& progress, std::vector<TracePoint>& trace) {
  if (progress.phase != tuner::Progress::Phase::search || progress.best_us <= 0) return;
  const TracePoint now{progress.done, progress.best_us};
  const size_t size = trace.size();
  // The last point moves on while nothing better is found.
  const bool repeats =
      size > 1 && trace[size - 1].best_us == now.best_us && trace[size - 2].best_us == now.best_us;
  if (repeats) trace.pop_back();
  trace.push_back(now);
}

Expected<tuner::TuneReport> tune_one(const PlannedProblem& item, const TunePlace& place,
                                     EvaluatorResult evaluator, const tuner::Equipment& equipment,
                                     store::RecordStore& store, const std::atomic<bool>& stop,
                                     const TuneEvents& events, std::vector<TracePoint>& trace) {
  if (!evaluator) return tl::unexpected(evaluator.error());
  std::function<void(const tuner::Progress&)> on_progress;
  if (events.on_problem) on_progress = events.on_problem(item.wanted, place);
  const auto noted = [&trace, on_progress](const tuner::Progress& progress) {
    note(progress, trace);
    if (on_progress) on_progress(progress);
  };
  return search(item.request, equipment, **evaluator, store, stop, noted);
}

// The problems that were tuned, as they were asked for.
std::vector<TunedProblem> as_asked(std::vector<std::optional<TunedProblem>> tuned) {
  std::vector<TunedProblem> all;
  for (std::optional<TunedProblem>& one : tuned) {
    if (one) all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace

Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events) {
  auto plan = plan_tune(context, options);
  if (!plan) return tl::unexpected(plan.error());
  auto equipment = load_equipment(context, plan->machine, plan->target);
  if (!equipment) return tl::unexpected(equipment.error());
  // The first evaluator before the store: what a device refuses must leave no empty database.
  const size_t first = plan->order.front();
  std::optional<EvaluatorResult> first_evaluator =
      tuner::make_evaluator(plan->problems[first].request, *equipment);
  const bool only_one = plan->problems.size() == 1;
  if (!*first_evaluator && only_one) return tl::unexpected(first_evaluator->error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());

  TuneSummary summary;
  summary.target = plan->target;
  if (events.on_target) events.on_target(plan->target);
  ProblemClock clock(*plan);
  std::vector<std::optional<TunedProblem>> all(plan->problems.size());
  for (const size_t i : plan->order) {
    if (stop.load()) {
      summary.interrupted = true;
      break;
    }
    const PlannedProblem& item = plan->problems[i];
    TunedProblem tuned{item.wanted, std::nullopt, item.skipped, {}};
    if (item.skipped.empty()) {
      auto evaluator = i == first ? std::exchange(first_evaluator, std::nullopt).value()
                                  : tuner::make_evaluator(item.request, *equipment);
      auto report = tune_one(item, clock.next(), std::move(evaluator), *equipment, **store, stop,
                             events, tuned.trace);
      // One problem that cannot be tuned is no reason to drop the others; a broken store is.
      const bool fatal = !report && (only_one || report.error().kind == ErrorKind::io);
      if (fatal) return tl::unexpected(report.error());
      if (!report) tuned.skipped = report.error().message;
      if (report) summary.interrupted = summary.interrupted || report->interrupted;
      if (report) tuned.report = std::move(*report);
    }
    if (events.on_result) events.on_result(tuned);
    all[i] = std::move(tuned);
  }
  summary.problems = as_asked(std::move(all));
  prune_cache(context, *equipment->compiler);
  return summary;
}

}  // namespace gemmtune::app
