#include "tuner/session/setup.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "tuner/session/device_evaluator.h"
#include "tuner/session/evaluator_in_turns.h"
#include "tuner/session/model_evaluator.h"
#include "tuner/verify/sim_verifier.h"

namespace gemmtune::tuner {
namespace {

store::RunInfo run_info(const TuneRequest& request, const Equipment& equipment,
                        std::string_view command, std::string_view tool_version) {
  std::string options = fmt::format("{} candidates={} seconds={} seed={}", command,
                                    request.max_candidates, request.max_seconds, request.seed);
  if (request.method == SearchMethod::random) options += " random";
  if (request.method == SearchMethod::exhaustive) options += " exhaustive";
  if (request.fresh) options += " fresh";
  if (request.warm) options += " warm";
  for (const codegen::SearchSpace& space : request.spaces)
    options += fmt::format(" {}", space.strategy->name());
  return {std::string(tool_version), to_string(equipment.compiler->version()),
          equipment.driver ? equipment.driver->version() : 0, std::move(options)};
}

}  // namespace

Expected<std::unique_ptr<Evaluator>> make_evaluator(const TuneRequest& request,
                                                    const Equipment& equipment,
                                                    const EvaluatorOptions& options) {
  const Problem problem = canonical(request.problem);
  if (!equipment.device) {
    return std::make_unique<ModelEvaluator>(problem, equipment.limits,
                                            sim_host_verifier(equipment.compiler));
  }
  DeviceServices services;
  services.driver = equipment.driver;
  services.device = *equipment.device;
  services.compiler = equipment.compiler;
  if (options.with_vendor) services.cublaslt = equipment.cublaslt;
  services.nvml = gpu::NvmlDevice::find(equipment.nvml, equipment.device->uuid);
  EvaluationOptions evaluation;
  evaluation.warm = request.warm;
  evaluation.final_round = options.final_round;
  evaluation.beta = options.beta;
  evaluation.vendor_workspace_bytes = options.vendor_workspace_bytes;
  if (!equipment.turns) return DeviceEvaluator::create(std::move(services), problem, evaluation);
  const auto turn = equipment.turns->take();
  auto evaluator = DeviceEvaluator::create(std::move(services), problem, evaluation);
  if (!evaluator) return tl::unexpected(evaluator.error());
  return std::make_unique<EvaluatorInTurns>(*std::move(evaluator), equipment.turns);
}

SessionServices make_services(const TuneRequest& request, const Equipment& equipment,
                              store::RecordStore& store, std::string_view command,
                              std::string_view tool_version) {
  SessionServices services;
  services.compiler = equipment.compiler;
  services.store = &store;
  services.limits = equipment.limits;
  services.device = equipment.device;
  services.run = run_info(request, equipment, command, tool_version);
  return services;
}

}  // namespace gemmtune::tuner
