#include "gpu/nvml.h"

#include <nvml.h>

#include <array>
#include <utility>

#include "gpu/shared_library.h"

namespace gemmtune::gpu {

// The queries used here. Types are written out rather than taken from the header's declarations,
// which mark some of them deprecated in favour of names that older drivers lack. All but the first
// three may be missing.
struct NvmlApi {
  explicit NvmlApi(SharedLibrary opened) : library(std::move(opened)) {}

  SharedLibrary library;
  nvmlReturn_t (*init)() = nullptr;
  nvmlReturn_t (*shutdown)() = nullptr;
  nvmlReturn_t (*handle_by_uuid)(const char*, nvmlDevice_t*) = nullptr;
  nvmlReturn_t (*clock_info)(nvmlDevice_t, nvmlClockType_t, unsigned*) = nullptr;
  nvmlReturn_t (*power_usage_mw)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*power_limit_mw)(nvmlDevice_t, unsigned*) = nullptr;
  nvmlReturn_t (*temperature)(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned*) = nullptr;
  nvmlReturn_t (*event_reasons)(nvmlDevice_t, unsigned long long*) = nullptr;
  nvmlReturn_t (*field_values)(nvmlDevice_t, int, nvmlFieldValue_t*) = nullptr;
};

namespace {

constexpr unsigned kFieldPowerInstant = 186;  // NVML_FI_DEV_POWER_INSTANT, since driver 530

// In the order of their bits, which are part of NVML's interface.
constexpr std::array<const char*, 9> kReasonNames = {"gpu_idle",
                                                     "applications_clocks_setting",
                                                     "sw_power_cap",
                                                     "hw_slowdown",
                                                     "sync_boost",
                                                     "sw_thermal_slowdown",
                                                     "hw_thermal_slowdown",
                                                     "hw_power_brake_slowdown",
                                                     "display_clock_setting"};

template <class Entry>
void resolve(const SharedLibrary& library, const char* name, Entry& entry) {
  if (entry == nullptr) entry = reinterpret_cast<Entry>(library.symbol(name));
}

// The value that `query(&value)` gives; nullopt if it is refused or not offered at all.
template <class Query>
std::optional<unsigned> read(bool offered, Query&& query) {
  unsigned value = 0;
  if (!offered || query(&value) != NVML_SUCCESS) return {};
  return value;
}

std::optional<int> as_int(std::optional<unsigned> value) {
  if (!value) return {};
  return static_cast<int>(*value);
}

std::optional<double> watts(std::optional<unsigned> milliwatts) {
  if (!milliwatts) return {};
  return static_cast<double>(*milliwatts) / 1000.0;
}

std::optional<unsigned> momentary_power_mw(const NvmlApi& api, nvmlDevice_t device) {
  nvmlFieldValue_t power{};
  power.fieldId = kFieldPowerInstant;
  if (api.field_values == nullptr || api.field_values(device, 1, &power) != NVML_SUCCESS ||
      power.nvmlReturn != NVML_SUCCESS || power.valueType != NVML_VALUE_TYPE_UNSIGNED_INT) {
    return {};
  }
  return power.value.uiVal;
}

std::optional<unsigned> clock_mhz(const NvmlApi& api, nvmlDevice_t device, nvmlClockType_t type) {
  return read(api.clock_info != nullptr,
              [&](unsigned* value) { return api.clock_info(device, type, value); });
}

}  // namespace

std::vector<std::string> throttle_reason_names(uint64_t reasons) {
  std::vector<std::string> names;
  for (size_t bit = 0; bit < 64; ++bit) {
    if ((reasons >> bit & 1) == 0) continue;
    names.push_back(bit < kReasonNames.size() ? std::string(kReasonNames[bit])
                                              : "bit " + std::to_string(bit));
  }
  return names;
}

Nvml::Nvml(std::unique_ptr<const NvmlApi> api) : api_(std::move(api)) {}

Nvml::~Nvml() {
  api_->shutdown();
}

std::shared_ptr<const Nvml> Nvml::load(const std::string& library) {
  auto opened = SharedLibrary::open(library);
  if (!opened) return nullptr;
  auto api = std::make_unique<NvmlApi>(std::move(*opened));
  const SharedLibrary& lib = api->library;
  resolve(lib, "nvmlInit_v2", api->init);
  resolve(lib, "nvmlShutdown", api->shutdown);
  resolve(lib, "nvmlDeviceGetHandleByUUID", api->handle_by_uuid);
  resolve(lib, "nvmlDeviceGetClockInfo", api->clock_info);
  resolve(lib, "nvmlDeviceGetPowerUsage", api->power_usage_mw);
  resolve(lib, "nvmlDeviceGetEnforcedPowerLimit", api->power_limit_mw);
  resolve(lib, "nvmlDeviceGetTemperature", api->temperature);
  // The second name is the same query before driver 535.
  resolve(lib, "nvmlDeviceGetCurrentClocksEventReasons", api->event_reasons);
  resolve(lib, "nvmlDeviceGetCurrentClocksThrottleReasons", api->event_reasons);
  resolve(lib, "nvmlDeviceGetFieldValues", api->field_values);
  if (api->init == nullptr || api->shutdown == nullptr || api->handle_by_uuid == nullptr) {
    return nullptr;
  }
  if (api->init() != NVML_SUCCESS) return nullptr;
  return std::shared_ptr<const Nvml>(new Nvml(std::move(api)));
}

std::optional<NvmlDevice> NvmlDevice::find(std::shared_ptr<const Nvml> nvml,
                                           const std::string& uuid) {
  nvmlDevice_t handle = nullptr;
  if (!nvml || nvml->api_->handle_by_uuid(uuid.c_str(), &handle) != NVML_SUCCESS) return {};
  return NvmlDevice(std::move(nvml), handle);
}

ClockSample NvmlDevice::sample() const {
  const NvmlApi& api = *nvml_->api_;
  auto* const device = static_cast<nvmlDevice_t>(handle_);
  ClockSample sample;
  sample.sm_clock_mhz = as_int(clock_mhz(api, device, NVML_CLOCK_SM));
  sample.memory_clock_mhz = as_int(clock_mhz(api, device, NVML_CLOCK_MEM));
  sample.power_w = watts(momentary_power_mw(api, device));
  if (!sample.power_w) {
    sample.power_w = watts(read(api.power_usage_mw != nullptr, [&](unsigned* value) {
      return api.power_usage_mw(device, value);
    }));
  }
  sample.power_limit_w = watts(read(api.power_limit_mw != nullptr, [&](unsigned* value) {
    return api.power_limit_mw(device, value);
  }));
  sample.temperature_c = as_int(read(api.temperature != nullptr, [&](unsigned* value) {
    return api.temperature(device, NVML_TEMPERATURE_GPU, value);
  }));
  unsigned long long reasons = 0;
  if (api.event_reasons != nullptr && api.event_reasons(device, &reasons) == NVML_SUCCESS) {
    sample.throttle_reasons = reasons;
  }
  return sample;
}

}  // namespace gemmtune::gpu
