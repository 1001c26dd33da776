#include "app/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/common/equipment.h"
#include "app/common/records.h"
#include "app/tune/shard.h"
#include "app/tune/spaces.h"

namespace gemmtune::app {
namespace {

// A problem with the search for it, or why there is none.
struct Planned {
  WantedProblem wanted;
  tuner::TuneRequest request;
  std::string skipped;
};

// An exhaustive search tries everything, where no number was asked for. Why it cannot; else empty.
std::string take_all(tuner::TuneRequest& request, const Target& target) {
  constexpr size_t kMost = 100'000;
  const size_t points = tuner::count_points(request, target.limits, kMost);
  request.max_candidates = static_cast<int>(points);
  if (points < kMost) return {};
  return fmt::format(
      "{} legal tiles or more are too many to try all; narrow the search by "
      "--strategy, --space or --candidates",
      kMost);
}

Planned plan(const WantedProblem& wanted, const std::vector<codegen::SearchSpace>& spaces,
             const Target& target, const SearchOptions& options) {
  Planned planned{wanted, {}, wanted.unsupported};
  if (!planned.skipped.empty()) return planned;
  if (auto supported = supported_spaces(wanted.problem, spaces, target); supported) {
    planned.request = make_request(options, kTuneCandidates, wanted.problem,
                                   std::move(supported->spaces), target);
    planned.request.until_settled =
        !options.candidates && options.method == tuner::SearchMethod::model;
    if (options.method == tuner::SearchMethod::exhaustive && !options.candidates)
      planned.skipped = take_all(planned.request, target);
  } else {
    planned.skipped = supported.error().message;
  }
  return planned;
}

// Plans all problems; an error if nothing is left to do.
Expected<std::vector<Planned>> plan_all(const std::vector<WantedProblem>& wanted,
                                        const std::vector<codegen::SearchSpace>& spaces,
                                        const Target& target, const SearchOptions& options) {
  std::vector<Planned> all;
  for (const WantedProblem& problem : wanted) {
    all.push_back(plan(problem, spaces, target, options));
    if (!all.back().skipped.empty()) continue;
    if (auto fits = check_operands_fit(problem.problem, target); !fits) {
      if (problem.group.empty()) return tl::unexpected(fits.error());
      all.back().skipped = fits.error().message;
    }
  }
  const bool any =
      std::any_of(all.begin(), all.end(), [](const auto& p) { return p.skipped.empty(); });
  if (any) return all;
  return make_error(ErrorKind::unsupported, all.front().wanted.text + ": " + all.front().skipped);
}

// Everything that is found out before anything is written.
struct PreparedTune {
  Target target;
  tuner::Equipment equipment;
  std::vector<Planned> planned;  // at least one is not skipped
};

Expected<PreparedTune> prepare(const Context& context, const TuneOptions& options) {
  auto wanted = parse_problems(options.problems);
  if (!wanted) return tl::unexpected(wanted.error());
  if (!options.shard.empty()) {
    const auto shard = parse_shard(options.shard);
    if (!shard) return tl::unexpected(shard.error());
    wanted = take_shard(std::move(*wanted), *shard);
    if (!wanted) return tl::unexpected(wanted.error());
  }
  const auto method = parse_method(options.method);
  if (!method) return tl::unexpected(method.error());
  auto spaces = choose_spaces(options.strategies, options.space_files);
  if (!spaces) return tl::unexpected(spaces.error());
  const Machine machine = find_machine(context);
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  SearchOptions search = options.search;
  search.method = *method;
  if (!options.budget.empty()) {
    if (auto taken = take_budget(options.budget, search); !taken)
      return tl::unexpected(taken.error());
  }
  auto planned = plan_all(*wanted, *spaces, *target, search);
  if (!planned) return tl::unexpected(planned.error());
  auto equipment = load_equipment(context, machine, *target);
  if (!equipment) return tl::unexpected(equipment.error());
  return PreparedTune{std::move(*target), std::move(*equipment), std::move(*planned)};
}

using EvaluatorResult = Expected<std::unique_ptr<tuner::Evaluator>>;

Expected<tuner::TuneReport> tune_one(const Planned& item, EvaluatorResult evaluator,
                                     const PreparedTune& prepared, store::RecordStore& store,
                                     const std::atomic<bool>& stop, const TuneEvents& events) {
  if (!evaluator) return tl::unexpected(evaluator.error());
  std::function<void(const tuner::Progress&)> on_progress;
  if (events.on_problem) on_progress = events.on_problem(item.wanted);
  return search(item.request, prepared.equipment, **evaluator, store, stop, std::move(on_progress));
}

}  // namespace

Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events) {
  auto prepared = prepare(context, options);
  if (!prepared) return tl::unexpected(prepared.error());
  // The first evaluator before the store: what a device refuses must leave no empty database.
  auto first = std::find_if(prepared->planned.begin(), prepared->planned.end(),
                            [](const Planned& item) { return item.skipped.empty(); });
  std::optional<EvaluatorResult> first_evaluator =
      tuner::make_evaluator(first->request, prepared->equipment);
  const bool only_one = prepared->planned.size() == 1;
  if (!*first_evaluator && only_one) return tl::unexpected(first_evaluator->error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());

  TuneSummary summary;
  summary.target = prepared->target;
  if (events.on_target) events.on_target(prepared->target);
  for (const Planned& item : prepared->planned) {
    if (stop.load()) {
      summary.interrupted = true;
      break;
    }
    TunedProblem tuned{item.wanted, std::nullopt, item.skipped};
    if (item.skipped.empty()) {
      auto evaluator = &item == &*first ? std::exchange(first_evaluator, std::nullopt).value()
                                        : tuner::make_evaluator(item.request, prepared->equipment);
      auto report = tune_one(item, std::move(evaluator), *prepared, **store, stop, events);
      // One problem that cannot be tuned is no reason to drop the others; a broken store is.
      const bool fatal = !report && (only_one || report.error().kind == ErrorKind::io);
      if (fatal) return tl::unexpected(report.error());
      if (!report) tuned.skipped = report.error().message;
      if (report) summary.interrupted = summary.interrupted || report->interrupted;
      if (report) tuned.report = std::move(*report);
    }
    if (events.on_result) events.on_result(tuned);
    summary.problems.push_back(std::move(tuned));
  }
  prune_cache(context, *prepared->equipment.compiler);
  return summary;
}

}  // namespace gemmtune::app
