#include "app/ladder/ladder.h"

#include <memory>
#include <utility>

#include "app/common/context.h"
#include "app/common/equipment.h"
#include "app/common/problems.h"
#include "app/common/record_facts.h"
#include "app/common/records.h"
#include "app/common/target.h"
#include "app/common/version.h"

namespace gemmtune::app {
namespace {

constexpr DefaultCandidates kRungCandidates = {100, 24};  // of ten strategies: 80 s on two cores

// Everything that is found out before anything is written.
struct PreparedLadder {
  Target target;
  tuner::Equipment equipment;
  tuner::TuneRequest request;
  std::vector<Refusal> refusals;
};

Expected<PreparedLadder> prepare(const Context& context, const LadderOptions& options) {
  auto problem = parse_problem(options.problem);
  if (!problem) return tl::unexpected(problem.error());
  auto spaces = choose_spaces(options.strategies, {});
  if (!spaces) return tl::unexpected(spaces.error());
  const Machine machine = find_machine(context);
  auto target = choose_target(options.target, machine);
  if (!target) return tl::unexpected(target.error());
  auto supported = supported_spaces(*problem, *spaces, *target);
  if (!supported) return tl::unexpected(supported.error());
  if (auto fits = check_operands_fit(*problem, *target); !fits) return tl::unexpected(fits.error());
  auto equipment = load_equipment(context, machine, *target);
  if (!equipment) return tl::unexpected(equipment.error());
  auto request = make_request(options.search, kRungCandidates, *problem,
                              std::move(supported->spaces), *target);
  return PreparedLadder{std::move(*target), std::move(*equipment), std::move(request),
                        std::move(supported->refusals)};
}

}  // namespace

Expected<LadderSummary> ladder(const Context& context, const LadderOptions& options,
                               const std::atomic<bool>& stop, const LadderEvents& events) {
  auto prepared = prepare(context, options);
  if (!prepared) return tl::unexpected(prepared.error());
  const tuner::TuneRequest& request = prepared->request;
  // Without the vendor a strategy competes with itself only, so that its slow tiles are told apart.
  const auto make = [&](bool with_vendor) {
    tuner::EvaluatorOptions evaluation;
    evaluation.with_vendor = with_vendor;
    return tuner::make_evaluator(request, prepared->equipment, evaluation);
  };
  // An evaluator before the store: what a device refuses must leave no empty database.
  if (auto tried = make(false); !tried) return tl::unexpected(tried.error());
  auto store = open_records(context, false);
  if (!store) return tl::unexpected(store.error());
  if (events.on_target) events.on_target(prepared->target);

  tuner::LadderServices services;
  services.session =
      tuner::make_services(request, prepared->equipment, **store, "ladder", kVersion);
  services.session.stop = &stop;
  services.make_evaluator = make;
  if (events.on_rung) {
    services.on_rung = [&](std::string_view name) { return events.on_rung(request.problem, name); };
  }
  auto report = tuner::climb(request, services);
  prune_cache(context, *prepared->equipment.compiler);
  if (!report) return tl::unexpected(report.error());
  return LadderSummary{request.problem, std::move(prepared->target), std::move(*report),
                       std::move(prepared->refusals)};
}

std::vector<std::optional<RungFigures>> rung_figures(const tuner::LadderReport& report) {
  constexpr double kFlops = 2;  // a multiply-add
  std::vector<std::optional<RungFigures>> all;
  std::optional<double> below_us;
  for (const tuner::Rung& rung : report.rungs) {
    const auto time = time_us(rung.best);
    if (!time) {
      all.emplace_back();
      continue;
    }
    RungFigures figures;
    figures.gflops = tflops(report.job.problem, *time) * 1e3;
    if (report.vendor.best) figures.percent = *time_us(*report.vendor.best) / *time * 100;
    if (below_us) figures.gain = *below_us / *time;
    figures.flops_per_global_byte = kFlops / rung.loads.global;
    if (rung.loads.shared > 0) figures.flops_per_shared_byte = kFlops / rung.loads.shared;
    below_us = time;
    all.emplace_back(figures);
  }
  return all;
}

}  // namespace gemmtune::app
