#include "app/common/advice.h"

#include <algorithm>
#include <utility>

#include "app/common/target.h"
#include "codegen/strategy.h"

namespace gemmtune::app {
namespace {

// Of those that every NVRTC compiles for, the first that has most types.
constexpr Arch kArchWithoutGpu = {8, 0, false};

// The arch that `filter` asks for, or of its device; none where it names neither.
std::optional<Arch> named_arch(const FilterOptions& filter, const DeviceNames& devices) {
  if (!filter.arch.empty()) {
    const auto arch = parse_arch(filter.arch);
    return arch ? std::optional(*arch) : std::nullopt;
  }
  store::Filter resolved;
  if (filter.device.empty() || !resolve_device(filter.device, devices, resolved))
    return std::nullopt;
  return newest_arch(devices.at(*resolved.device_uuid).device.arch);
}

// Whether a strategy, the one called `name` if that is not empty, computes `problem` there.
bool is_computed(const Problem& problem, const std::string& name, Arch arch) {
  const auto all = codegen::strategies();
  return std::any_of(all.begin(), all.end(), [&](const codegen::Strategy* strategy) {
    return (name.empty() || strategy->name() == name) &&
           strategy->supports(canonical(problem), capability_of(arch)).has_value();
  });
}

}  // namespace

std::string advice(const Context& context, std::string_view lead, const NextStep& step) {
  return context.word_step ? std::string(lead) + context.word_step(step) : "";
}

std::optional<TuneStep> tune_step(const Context& context, const Problem& problem,
                                  const FilterOptions& filter, const DeviceNames& devices) {
  TuneStep step{problem, "", "", filter.warm};
  if (filter.strategy != kVendorStrategy) step.strategy = filter.strategy;
  std::vector<Arch> archs;
  if (const auto named = named_arch(filter, devices)) {
    archs.push_back(*named);
  } else if (const auto gpus = find_machine(context).devices; !gpus.empty()) {
    const auto own = newest_arch(gpus.front().arch);
    if (own && is_computed(problem, step.strategy, *own)) return step;  // tune takes it by itself
  } else {
    archs.push_back(kArchWithoutGpu);
  }
  const auto known = known_archs();
  archs.insert(archs.end(), known.begin(), known.end());
  const auto found = std::find_if(archs.begin(), archs.end(), [&](Arch arch) {
    return is_computed(problem, step.strategy, arch);
  });
  if (found == archs.end()) return std::nullopt;
  step.arch = to_string(*found);
  return step;
}

std::string tune_advice(const Context& context, std::string_view lead, const Problem& problem,
                        const FilterOptions& filter, const DeviceNames& devices) {
  const auto step = tune_step(context, problem, filter, devices);
  return step ? advice(context, lead, *step) : "; no strategy computes it";
}

}  // namespace gemmtune::app
