#include "app/common/services.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>

#include "core/names.h"
#include "store/shipped.h"
#include "tuner/session/device_evaluator.h"
#include "tuner/session/model_evaluator.h"
#include "tuner/verify/sim_verifier.h"

namespace gemmtune::cli {
namespace {

// The archs that code can be generated for, joined for a message.
std::string arch_list() {
  std::string text;
  for (const Arch arch : known_archs()) text += (text.empty() ? "" : ", ") + to_string(arch);
  return text;
}

Expected<Device> device_by_ordinal(int ordinal, const Machine& machine) {
  if (machine.devices.empty()) {
    return usage_error("--device " + std::to_string(ordinal) +
                       ": no GPU here: " + machine.why_no_driver);
  }
  for (const Device& device : machine.devices) {
    if (device.ordinal == ordinal) return device;
  }
  return usage_error(fmt::format("--device {}: this machine has devices 0..{}", ordinal,
                                 machine.devices.size() - 1));
}

// The newest arch we generate code for that runs on `device`; architecture-specific code only on
// request.
Expected<Arch> own_arch(const Device& device) {
  if (const auto newest = newest_arch(device.arch)) return *newest;
  return make_error(ErrorKind::unsupported,
                    fmt::format("{} is {}, which gemm-tune has no code for; it has {}", device.name,
                                to_string(device.arch), arch_list()));
}

std::string gib(double bytes) {
  return fmt::format("{:.1f} GiB", bytes / (1 << 30));
}

}  // namespace

Expected<std::shared_ptr<const jit::Compiler>> load_compiler(const Context& context) {
  auto nvrtc = jit::Nvrtc::load(jit::nvrtc_candidates(nvrtc_locations(context.environment)));
  // Whatever the reason, this machine lacks what the command needs.
  if (!nvrtc) return make_error(ErrorKind::unsupported, nvrtc.error().message);
  std::shared_ptr<jit::CubinCache> cache;
  if (const auto folder = cache_directory(context.environment, context.options)) {
    cache = std::make_shared<jit::CubinCache>(
        *folder, [log = context.log](const std::string& text) { log->warn(text); });
  }
  context.log->debug("NVRTC {} at {}", to_string(nvrtc->version()), nvrtc->path().string());
  return std::make_shared<const jit::Compiler>(std::move(*nvrtc), std::move(cache));
}

void prune_cache(const Context& context, const jit::Compiler& compiler) {
  if (compiler.cache() == nullptr) return;
  const auto pruned = compiler.cache()->prune();
  if (!pruned) {
    context.log->warn("kernel cache: {}", pruned.error().message);
  } else if (pruned->files_removed > 0) {
    context.log->info("kernel cache: removed {} files, {} MiB", pruned->files_removed,
                      pruned->bytes_removed >> 20);
  }
}

namespace {

Expected<void> merge_shipped(const Context& context, store::RecordStore& store) {
  auto shipped = store::shipped_entries();
  if (!shipped) return tl::unexpected(shipped.error());
  auto merged = store.merge(*shipped);
  if (!merged) return tl::unexpected(merged.error());
  context.log->debug("{} results that come with gemm-tune", merged->added);
  return store.update_winners();
}

// What is read where there is no default database yet.
Expected<std::unique_ptr<store::RecordStore>> shipped_records(const Context& context) {
  auto store = store::open_memory_store();
  if (!store) return store;
  if (auto merged = merge_shipped(context, **store); !merged) return tl::unexpected(merged.error());
  return store;
}

}  // namespace

Expected<std::unique_ptr<store::RecordStore>> open_records(const Context& context, bool read_only) {
  auto location = database_location(context.environment, context.options);
  if (!location) return tl::unexpected(location.error());
  std::error_code error;
  const bool is_new = location->is_default && !std::filesystem::exists(location->path, error);
  if (is_new && read_only) return shipped_records(context);
  store::StoreOptions options;
  options.path = location->path;
  options.read_only = read_only;
  options.create_directory = location->is_default && !read_only;
  auto store = store::open_store(options);
  if (!store || !is_new) return store;
  if (auto merged = merge_shipped(context, **store); !merged) return tl::unexpected(merged.error());
  return store;
}

Expected<std::unique_ptr<store::RecordStore>> open_existing_records(const Context& context) {
  auto location = database_location(context.environment, context.options);
  if (!location) return tl::unexpected(location.error());
  std::error_code error;
  if (!std::filesystem::exists(location->path, error)) {
    return make_error(ErrorKind::not_found,
                      "there is no database " + in_quotes(location->path.string()));
  }
  return open_records(context, false);
}

Expected<std::unique_ptr<store::RecordStore>> open_other_records(const std::string& file) {
  store::StoreOptions options;
  options.path = file;
  options.read_only = true;
  auto store = store::open_store(options);
  if (!store && store.error().kind == ErrorKind::not_found)
    return usage_error(store.error().message);
  return store;
}

Machine find_machine(const Context& context) {
  Machine machine;
  gpu::DriverOptions options;
  options.on_cleanup_error = [log = context.log](const gpu::CudaError& error) {
    log->debug("{}", error.message);
  };
  auto driver = gpu::Driver::load(std::move(options));
  if (!driver) {
    machine.why_no_driver = driver.error().message;
    context.log->debug("{}", machine.why_no_driver);
    return machine;
  }
  auto devices = (*driver)->devices();
  if (!devices) {
    machine.why_no_driver = devices.error().message;
    context.log->warn("{}", machine.why_no_driver);
    return machine;
  }
  machine.driver = std::move(*driver);
  machine.devices = std::move(*devices);
  return machine;
}

namespace {

Expected<Target> modelled_target(const TargetOptions& options) {
  if (options.device)
    return usage_error("--model predicts and --device measures: give one of them");
  Target target;
  target.model_named = true;
  std::optional<Arch> wanted;
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    wanted = *arch;
  }
  auto spec = choose_device_spec(options.model, wanted);
  if (!spec) return tl::unexpected(spec.error());
  target.limits = **spec;
  auto arch = wanted ? Expected<Arch>(*wanted) : own_arch(modelled_device(**spec));
  if (!arch) return tl::unexpected(arch.error());
  target.arch = *arch;
  return target;
}

}  // namespace

Expected<Target> choose_target(const TargetOptions& options, const Machine& machine) {
  if (!options.model.empty()) return modelled_target(options);
  Target target;
  if (options.device) {
    auto device = device_by_ordinal(*options.device, machine);
    if (!device) return tl::unexpected(device.error());
    target.device = std::move(*device);
  }
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    target.arch = *arch;
    if (target.device && !runs_on(target.arch, target.device->arch)) {
      return usage_error(fmt::format("--arch {} does not run on device {}, {} ({})", options.arch,
                                     *options.device, target.device->name,
                                     to_string(target.device->arch)));
    }
    for (const Device& device : machine.devices) {
      if (target.device || !runs_on(target.arch, device.arch)) continue;
      const bool exact = device.arch.number() == target.arch.number();
      const bool better_follows =
          !exact && std::any_of(machine.devices.begin(), machine.devices.end(), [&](const auto& d) {
            return d.arch.number() == target.arch.number();
          });
      if (!better_follows) target.device = device;
    }
  } else {
    if (!target.device && !machine.devices.empty()) target.device = machine.devices.front();
    if (!target.device) {
      return usage_error("--arch is needed where there is no GPU (" + machine.why_no_driver +
                         "); one of " + arch_list());
    }
    auto arch = own_arch(*target.device);
    if (!arch) return tl::unexpected(arch.error());
    target.arch = *arch;
  }
  target.limits = target.device ? device_limits(*target.device, target.arch)
                                : representative_device(target.arch);
  return target;
}

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
    return std::make_unique<tuner::ModelEvaluator>(
        canonical(problem), target.limits,
        tuner::sim_host_verifier(std::move(compiler), target.arch));
  }
  tuner::DeviceServices services;
  services.driver = machine.driver;
  services.device = *target.device;
  services.compiler = std::move(compiler);
  services.cublaslt = libraries.cublaslt;
  services.nvml = gpu::NvmlDevice::find(libraries.nvml, target.device->uuid);
  tuner::EvaluationOptions options;
  options.arch = target.arch;
  options.warm = warm;
  return tuner::DeviceEvaluator::create(std::move(services), canonical(problem), options);
}

Expected<void> check_operands_fit(const Problem& problem, const Target& target) {
  const auto a = static_cast<double>(bytes_a(problem));
  const auto b = static_cast<double>(bytes_b(problem));
  const auto c = static_cast<double>(bytes_c(problem));
  const auto have = static_cast<double>(target.limits.memory_bytes);
  if (a + b + c <= have) return {};
  return usage_error(fmt::format("{} needs {} for its operands (A {}, B {}, C {}); {} has {}",
                                 to_string(problem.shape), gib(a + b + c), gib(a), gib(b), gib(c),
                                 target.limits.name, gib(have)));
}

}  // namespace gemmtune::cli
