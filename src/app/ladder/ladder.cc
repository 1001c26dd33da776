#include "app/ladder/ladder.h"

#include <memory>
#include <utility>

#include "app/common/context.h"
#include "app/common/evaluators.h"
#include "app/common/problems.h"
#include "app/common/record_facts.h"
#include "app/common/records.h"
#include "app/common/target.h"
#include "app/tune/spaces.h"
#include "app/tune/tune.h"

namespace gemmtune::app {
namespace {

constexpr int kRungMeasured = 100;
constexpr int kRungPredicted = 24;  // of ten strategies: 80 s of compiling on two cores

// Everything that is found out before anything is written.
struct PreparedLadder {
  Machine machine;
  Target target;
  Problem problem;
  SupportedSpaces supported;
  std::shared_ptr<const jit::Compiler> compiler;
  VendorLibraries libraries;
};

Expected<PreparedLadder> prepare(const Context& context, const LadderOptions& options) {
  PreparedLadder prepared;
  auto problem = parse_problem(options.problem);
  if (!problem) return tl::unexpected(problem.error());
  prepared.problem = *problem;
  auto spaces = choose_spaces(options.strategies, {});
  if (!spaces) return tl::unexpected(spaces.error());
  prepared.machine = find_machine(context);
  auto target = choose_target(options.target, prepared.machine);
  if (!target) return tl::unexpected(target.error());
  prepared.target = std::move(*target);
  auto supported = supported_spaces(prepared.problem, *spaces, prepared.target);
  if (!supported) return tl::unexpected(supported.error());
  prepared.supported = std::move(*supported);
  if (auto fits = check_operands_fit(prepared.problem, prepared.target); !fits)
    return tl::unexpected(fits.error());
  auto compiler = load_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  prepared.compiler = std::move(*compiler);
  if (auto served = prepared.compiler->nvrtc().check_arch(prepared.target.arch); !served)
    return tl::unexpected(served.error());
  if (prepared.target.device) prepared.libraries = load_vendor_libraries(context);
  return prepared;
}

tuner::TuneRequest make_request(const LadderOptions& options, const PreparedLadder& prepared) {
  tuner::TuneRequest request;
  request.problem = prepared.problem;
  request.spaces = prepared.supported.spaces;
  request.max_candidates =
      options.candidates.value_or(prepared.target.device ? kRungMeasured : kRungPredicted);
  request.max_seconds = options.seconds;
  request.seed = options.seed;
  request.threads = search_threads(options.jobs);
  request.fresh = options.retune;
  request.warm = options.warm;
  return request;
}

}  // namespace

Expected<LadderSummary> ladder(const Context& context, const LadderOptions& options,
                               const std::atomic<bool>& stop, const LadderEvents& events) {
  auto prepared = prepare(context, options);
  if (!prepared) return tl::unexpected(prepared.error());
  const auto make = [&](bool with_vendor) {
    VendorLibraries libraries = prepared->libraries;
    // A strategy competes with itself only, so that its slow tiles are told apart too.
    if (!with_vendor) libraries.cublaslt = nullptr;
    return make_evaluator(prepared->machine, prepared->target, libraries, prepared->compiler,
                          prepared->problem, options.warm);
  };
  // An evaluator before the store: what a device refuses must leave no empty database.
  if (auto tried = make(false); !tried) return tl::unexpected(tried.error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  if (events.on_target) events.on_target(prepared->target);

  const tuner::TuneRequest request = make_request(options, *prepared);
  tuner::LadderServices services;
  services.session.compiler = prepared->compiler;
  services.session.store = store->get();
  services.session.limits = prepared->target.limits;
  services.session.device = prepared->target.device;
  services.session.run = run_info("ladder", request, prepared->machine, *prepared->compiler);
  services.session.stop = &stop;
  services.make_evaluator = make;
  if (events.on_rung) {
    services.on_rung = [&](std::string_view name) {
      return events.on_rung(prepared->problem, name);
    };
  }
  auto report = tuner::climb(request, services);
  prune_cache(context, *prepared->compiler);
  if (!report) return tl::unexpected(report.error());
  return LadderSummary{prepared->problem, std::move(prepared->target), std::move(*report),
                       std::move(prepared->supported.refusals)};
}

std::vector<std::optional<RungFigures>> rung_figures(const tuner::LadderReport& report) {
  constexpr double kFlops = 2;  // a multiply-add
  std::vector<std::optional<RungFigures>> all;
  std::optional<double> below_us;
  for (const tuner::Rung& rung : report.rungs) {
    const auto time = rung.best ? time_us(*rung.best) : std::nullopt;
    if (!time) {
      all.emplace_back();
      continue;
    }
    RungFigures figures;
    figures.gflops = tflops(report.job.problem, *time) * 1e3;
    if (report.vendor_best) figures.percent = *time_us(*report.vendor_best) / *time * 100;
    if (below_us) figures.gain = *below_us / *time;
    figures.flops_per_global_byte = kFlops / rung.loads.global;
    if (rung.loads.shared > 0) figures.flops_per_shared_byte = kFlops / rung.loads.shared;
    below_us = time;
    all.emplace_back(figures);
  }
  return all;
}

}  // namespace gemmtune::app
