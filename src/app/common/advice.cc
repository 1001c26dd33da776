#include "app/common/advice.h"

#include <utility>

#include "app/common/target.h"

namespace gemmtune::app {
namespace {

// Of those that every NVRTC compiles for, the first that has all types.
constexpr std::string_view kArchWithoutGpu = "sm_80";

// The arch that `filter` asks for; empty for the one of this machine's GPU.
std::string wanted_arch(const Context& context, const FilterOptions& filter,
                        const DeviceNames& devices) {
  if (!filter.arch.empty()) return filter.arch;
  store::Filter resolved;
  if (!filter.device.empty() && resolve_device(filter.device, devices, resolved)) {
    const auto newest = newest_arch(devices.at(*resolved.device_uuid).device.arch);
    if (newest) return to_string(*newest);
  }
  return find_machine(context).devices.empty() ? std::string(kArchWithoutGpu) : "";
}

}  // namespace

std::string advice(const Context& context, std::string_view lead, const NextStep& step) {
  return context.word_step ? std::string(lead) + context.word_step(step) : "";
}

TuneStep tune_step(const Context& context, const Problem& problem, const FilterOptions& filter,
                   const DeviceNames& devices) {
  TuneStep step{problem, wanted_arch(context, filter, devices), "", filter.warm};
  if (filter.strategy != kVendorStrategy) step.strategy = filter.strategy;
  return step;
}

}  // namespace gemmtune::app
