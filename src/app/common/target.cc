#include "app/common/target.h"

#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

#include "app/common/device_list.h"

namespace gemmtune::app {
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

std::string gib(double bytes) {
  return fmt::format("{:.1f} GiB", bytes / (1 << 30));
}

Expected<Target> modelled_target(const TargetOptions& options) {
  if (options.device || !options.devices.empty()) {
    return usage_error(fmt::format("--model predicts and --device{} measures: give one of them",
                                   options.device ? "" : "s"));
  }
  Target target;
  target.model_named = true;
  std::optional<Arch> wanted;
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    wanted = capability_of(*arch);
  }
  auto spec = choose_device_spec(options.model, wanted);
  if (!spec) return tl::unexpected(spec.error());
  target.limits = **spec;
  auto arch = wanted ? Expected<Arch>(*wanted) : own_arch(modelled_device(**spec));
  if (!arch) return tl::unexpected(arch.error());
  target.arch = *arch;
  return target;
}

// What holds for the first of several devices of one model holds for all of them.
Expected<Target> target_of_several(TargetOptions options, const Machine& machine) {
  if (options.device) return usage_error("--device and --devices: give one of them");
  auto devices = choose_devices(options.devices, machine);
  if (!devices) return tl::unexpected(devices.error());
  options.devices.clear();
  options.device = devices->front().ordinal;
  auto target = choose_target(options, machine);
  if (target) target->devices = std::move(*devices);
  return target;
}

// How often each GPU of a list is named; 0 if not all are as often.
size_t same_number_of_each(const std::vector<Device>& devices) {
  const std::vector<Device> gpus = distinct(devices);
  if (gpus.empty()) return 0;
  const size_t each = devices.size() / gpus.size();
  const bool same = std::all_of(gpus.begin(), gpus.end(), [&](const Device& gpu) {
    return static_cast<size_t>(std::count_if(
               devices.begin(), devices.end(),
               [&](const Device& device) { return device.uuid == gpu.uuid; })) == each;
  });
  return same ? each : 0;
}

}  // namespace

Expected<Arch> own_arch(const Device& device) {
  if (const auto newest = newest_arch(device.arch)) return *newest;
  return make_error(ErrorKind::unsupported,
                    fmt::format("{} is {}, which gemm-tune has no code for; it has {}", device.name,
                                to_string(device.arch), arch_list()));
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

Expected<Target> choose_target(const TargetOptions& options, const Machine& machine) {
  if (!options.model.empty()) return modelled_target(options);
  if (!options.devices.empty()) return target_of_several(options, machine);
  Target target;
  if (options.device) {
    auto device = device_by_ordinal(*options.device, machine);
    if (!device) return tl::unexpected(device.error());
    target.device = std::move(*device);
  }
  if (!options.arch.empty()) {
    auto arch = parse_arch(options.arch);
    if (!arch) return tl::unexpected(arch.error());
    target.arch = capability_of(*arch);
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

std::vector<Device> Target::measuring() const {
  if (!devices.empty()) return devices;
  return device ? std::vector<Device>{*device} : std::vector<Device>{};
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

std::string target_line(const Target& target) {
  if (!target.device) {
    return fmt::format(
        "predicted for {} as {}{}; nothing was measured\n", to_string(target.arch),
        with_article(target.limits.name),
        target.model_named ? "" : fmt::format(": no {} device is present", to_string(target.arch)));
  }
  std::vector<Device> shown = target.measuring();
  const size_t on_each = same_number_of_each(shown);
  if (on_each > 1) shown = distinct(shown);
  const bool several = shown.size() > 1;
  std::string ordinals = std::to_string(target.device->ordinal);
  for (size_t i = 1; i < shown.size(); ++i) ordinals += fmt::format(", {}", shown[i].ordinal);
  return fmt::format(
      "measured on device{} {}: {} ({} SMs{}), code for {}{}\n", several ? "s" : "", ordinals,
      target.device->name, target.device->sm_count, several ? " each" : "", to_string(target.arch),
      on_each > 1 ? fmt::format("; {} problems in turns{}", on_each, several ? " on each" : "")
                  : "");
}

}  // namespace gemmtune::app
