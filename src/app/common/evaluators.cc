#include "app/common/evaluators.h"

#include <spdlog/logger.h>

#include <utility>

#include "app/common/environment.h"
#include "tuner/session/device_evaluator.h"
#include "tuner/session/model_evaluator.h"
#include "tuner/verify/sim_verifier.h"

namespace gemmtune::app {

VendorLibraries load_vendor_libraries(const Context& context) {
  VendorLibraries libraries;
  auto cublaslt = vendor::CublasLtLibrary::load(cublaslt_names(context.environment));
  if (cublaslt) {
    libraries.cublaslt = std::move(*cublaslt);
  } else {
    context.log->warn("no baseline: {}", cublaslt.error().message);
  }
  libraries.nvml = gpu::Nvml::load();
  if (!libraries.nvml) context.log->warn("no NVML: clocks and power are not recorded");
  return libraries;
}

Expected<std::unique_ptr<tuner::Evaluator>> make_evaluator(
    const Machine& machine, const Target& target, const VendorLibraries& libraries,
    std::shared_ptr<const jit::Compiler> compiler, const Problem& problem, bool warm) {
  if (!target.device) {
    return std::make_unique<tuner::ModelEvaluator>(canonical(problem), target.limits,
                                                   tuner::sim_host_verifier(std::move(compiler)));
  }
  tuner::DeviceServices services;
  services.driver = machine.driver;
  services.device = *target.device;
  services.compiler = std::move(compiler);
  services.cublaslt = libraries.cublaslt;
  services.nvml = gpu::NvmlDevice::find(libraries.nvml, target.device->uuid);
  tuner::EvaluationOptions options;
  options.warm = warm;
  return tuner::DeviceEvaluator::create(std::move(services), canonical(problem), options);
}

}  // namespace gemmtune::app
