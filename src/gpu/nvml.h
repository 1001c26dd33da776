#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gemmtune::gpu {

// The state of a GPU at one moment. A field is absent where the driver does not tell (virtual
// machines and consumer cards refuse some queries).
struct ClockSample {
  std::optional<int> sm_clock_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<double> power_w;  // momentary where the driver offers it, else its 1 s average
  std::optional<double> power_limit_w;  // the limit in force
  std::optional<int> temperature_c;
  std::optional<uint64_t> throttle_reasons;  // bits; see throttle_reason_names

  bool operator==(const ClockSample&) const = default;
};

// Names of the bits set in a throttle reason mask ("sw_power_cap", "hw_thermal_slowdown" ...), low
// bits first; an unknown bit is "bit 12".
std::vector<std::string> throttle_reason_names(uint64_t reasons);

// The reasons that make a measurement slower than the same kernel would be otherwise: power and
// thermal limits. Idle, and clocks that an administrator set, are not among them.
inline constexpr uint64_t kPowerLimit = 0x4;
inline constexpr uint64_t kSlowingReasons = kPowerLimit | 0x8 | 0x20 | 0x40 | 0x80;

class NvmlDevice;
struct NvmlApi;  // private to nvml.cc

// The management library, opened and initialised at run time; shut down with the last owner.
// Absence is a value: nothing here fails. Thread-safe.
class Nvml {
 public:
  // Null if the library is missing or does not start.
  static std::shared_ptr<const Nvml> load(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

 private:
  friend class NvmlDevice;
  explicit Nvml(std::unique_ptr<const NvmlApi> api);

  std::unique_ptr<const NvmlApi> api_;
};

// One GPU as the management library sees it. Copyable; keeps the library open. Thread-safe.
class NvmlDevice {
 public:
  // The GPU of Device::uuid; nullopt if `nvml` is null or does not know it.
  static std::optional<NvmlDevice> find(std::shared_ptr<const Nvml> nvml, const std::string& uuid);

  // Reads every field now: several driver queries, so not inside a timed region.
  ClockSample sample() const;

 private:
  NvmlDevice(std::shared_ptr<const Nvml> nvml, void* handle)
      : nvml_(std::move(nvml)), handle_(handle) {}

  std::shared_ptr<const Nvml> nvml_;
  void* handle_;
};

}  // namespace gemmtune::gpu
