#include "app/common/equipment.h"

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/common/environment.h"

namespace gemmtune::app {
namespace {

void load_vendor_libraries(const Context& context, tuner::Equipment& equipment) {
  auto cublaslt = vendor::CublasLtLibrary::load(cublaslt_names(context.environment));
  if (cublaslt) {
    equipment.cublaslt = std::move(*cublaslt);
  } else {
    context.log->warn("no baseline: {}", cublaslt.error().message);
  }
  equipment.nvml = gpu::Nvml::load();
  if (!equipment.nvml) context.log->warn("no NVML: clocks and power are not recorded");
}

std::shared_ptr<const tuner::DeviceTurns> open_turns(const Context& context, const Device& device) {
  std::error_code error;
  auto turns = tuner::DeviceTurns::open(std::filesystem::temp_directory_path(error), device.uuid);
  if (turns) return std::make_shared<const tuner::DeviceTurns>(*std::move(turns));
  context.log->warn("other processes may disturb what is measured: {}", turns.error().message);
  return nullptr;
}

}  // namespace

Expected<tuner::Equipment> load_equipment(const Context& context, const Machine& machine,
                                          const Target& target, bool compiles) {
  auto compiler = load_parallel_compiler(context);
  if (!compiler) return tl::unexpected(compiler.error());
  if (compiles) {
    if (auto served = (*compiler)->nvrtc().check_arch(target.arch); !served)
      return tl::unexpected(served.error());
  }
  tuner::Equipment equipment;
  equipment.device = target.device;
  equipment.limits = target.limits;
  equipment.compiler = std::move(*compiler);
  equipment.driver = machine.driver;
  if (target.device) {
    load_vendor_libraries(context, equipment);
    equipment.turns = open_turns(context, *target.device);
  }
  return equipment;
}

}  // namespace gemmtune::app
