#include "app/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "app/common/records.h"
#include "app/common/version.h"
#include "app/tune/spaces.h"

namespace gemmtune::app {
namespace {

constexpr int kCandidatesMeasured = 360;
constexpr int kCandidatesPredicted = 96;  // compiling is all they cost: a minute on two cores

// A problem with the spaces that compute it, or why there are none.
struct Planned {
  WantedProblem wanted;
  std::vector<codegen::SearchSpace> spaces;
  std::string skipped;
};

Planned plan(const WantedProblem& wanted, const std::vector<codegen::SearchSpace>& spaces,
             const Target& target) {
  Planned planned{wanted, {}, wanted.unsupported};
  if (!planned.skipped.empty()) return planned;
  if (auto supported = supported_spaces(wanted.problem, spaces, target); supported) {
    planned.spaces = std::move(supported->spaces);
  } else {
    planned.skipped = supported.error().message;
  }
  return planned;
}

// Plans all problems; an error if nothing is left to do.
Expected<std::vector<Planned>> plan_all(const std::vector<WantedProblem>& wanted,
                                        const std::vector<codegen::SearchSpace>& spaces,
                                        const Target& target) {
  std::vector<Planned> all;
  for (const WantedProblem& problem : wanted) {
    all.push_back(plan(problem, spaces, target));
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

tuner::TuneRequest make_request(const TuneOptions& options, const Problem& problem,
                                std::vector<codegen::SearchSpace> spaces, const Target& target) {
  tuner::TuneRequest request;
  request.problem = problem;
  request.spaces = std::move(spaces);
  request.max_candidates =
      options.candidates.value_or(target.device ? kCandidatesMeasured : kCandidatesPredicted);
  request.max_seconds = options.seconds;
  request.seed = options.seed;
  request.threads = search_threads(options.jobs);
  request.fresh = options.fresh;
  request.warm = options.warm;
  return request;
}

// Everything that is found out before anything is written.
struct PreparedTune : TuneServices {
  std::vector<Planned> planned;  // at least one is not skipped
};

Expected<PreparedTune> prepare(const Context& context, const TuneOptions& options) {
  auto wanted = parse_problems(options.problems);
  if (!wanted) return tl::unexpected(wanted.error());
  auto spaces = choose_spaces(options.strategies, options.space_files);
  if (!spaces) return tl::unexpected(spaces.error());
  PreparedTune prepared;
  prepared.machine = find_machine(context);
  auto target = choose_target(options.target, prepared.machine);
  if (!target) return tl::unexpected(target.error());
  prepared.target = std::move(*target);
  auto planned = plan_all(*wanted, *spaces, prepared.target);
  if (!planned) return tl::unexpected(planned.error());
  prepared.planned = std::move(*planned);
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  prepared.compiler = std::move(*compiler);
  if (auto served = prepared.compiler->nvrtc().check_arch(prepared.target.arch); !served)
    return tl::unexpected(served.error());
  if (prepared.target.device) prepared.libraries = load_vendor_libraries(context);
  return prepared;
}

using EvaluatorResult = Expected<std::unique_ptr<tuner::Evaluator>>;

EvaluatorResult make_evaluator_for(const Planned& item, const PreparedTune& prepared,
                                   const TuneOptions& options) {
  return make_evaluator(prepared.machine, prepared.target, prepared.libraries, prepared.compiler,
                        item.wanted.problem, options.warm);
}

Expected<tuner::TuneReport> tune_one(const Planned& item, EvaluatorResult evaluator,
                                     const PreparedTune& prepared, const TuneOptions& options,
                                     store::RecordStore& store, const std::atomic<bool>& stop,
                                     const TuneEvents& events) {
  if (!evaluator) return tl::unexpected(evaluator.error());
  std::function<void(const tuner::Progress&)> on_progress;
  if (events.on_problem) on_progress = events.on_problem(item.wanted);
  return tune_problem(item.wanted.problem, item.spaces, **evaluator, prepared, options, store, stop,
                      std::move(on_progress));
}

}  // namespace

Expected<tuner::TuneReport> tune_problem(const Problem& problem,
                                         std::vector<codegen::SearchSpace> spaces,
                                         tuner::Evaluator& evaluator, const TuneServices& shared,
                                         const TuneOptions& options, store::RecordStore& store,
                                         const std::atomic<bool>& stop,
                                         std::function<void(const tuner::Progress&)> on_progress) {
  const tuner::TuneRequest request =
      make_request(options, problem, std::move(spaces), shared.target);
  tuner::SessionServices services;
  services.compiler = shared.compiler;
  services.store = &store;
  services.evaluator = &evaluator;
  services.limits = shared.target.limits;
  services.device = shared.target.device;
  services.run = run_info("tune", request, shared.machine, *shared.compiler);
  services.on_progress = std::move(on_progress);
  services.stop = &stop;
  return tuner::tune(request, services);
}

int search_threads(int jobs) {
  if (jobs > 0) return jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

store::RunInfo run_info(std::string_view command, const tuner::TuneRequest& request,
                        const Machine& machine, const jit::Compiler& compiler) {
  std::string options = fmt::format("{} candidates={} seconds={} seed={}", command,
                                    request.max_candidates, request.max_seconds, request.seed);
  if (request.fresh) options += " fresh";
  if (request.warm) options += " warm";
  for (const codegen::SearchSpace& space : request.spaces)
    options += fmt::format(" {}", space.strategy->name());
  return {std::string(kVersion), to_string(compiler.nvrtc().version()),
          machine.driver ? machine.driver->version() : 0, std::move(options)};
}

Expected<TuneSummary> tune(const Context& context, const TuneOptions& options,
                           const std::atomic<bool>& stop, const TuneEvents& events) {
  auto prepared = prepare(context, options);
  if (!prepared) return tl::unexpected(prepared.error());
  // The first evaluator before the store: what a device refuses must leave no empty database.
  auto first = std::find_if(prepared->planned.begin(), prepared->planned.end(),
                            [](const Planned& item) { return item.skipped.empty(); });
  std::optional<EvaluatorResult> first_evaluator = make_evaluator_for(*first, *prepared, options);
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
                                        : make_evaluator_for(item, *prepared, options);
      auto report = tune_one(item, std::move(evaluator), *prepared, options, **store, stop, events);
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
  prune_cache(context, *prepared->compiler);
  return summary;
}

}  // namespace gemmtune::app
