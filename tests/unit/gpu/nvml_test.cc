#include "gpu/nvml.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <stdexcept>

using namespace gemmtune::gpu;  // NOLINT(google-build-using-namespace)

namespace {

// A switch of the fake management library.
int& flag(const char* name) {
  void* library = dlopen(GEMMTUNE_FAKE_NVML, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw std::runtime_error(dlerror());
  int* value = static_cast<int*>(dlsym(library, name));
  dlclose(library);
  return *value;
}

ClockSample sample() {
  return NvmlDevice::find(Nvml::load(GEMMTUNE_FAKE_NVML), "GPU-known").value().sample();
}

}  // namespace

TEST_CASE("an absent or unusable library is a value") {
  CHECK(Nvml::load("libnvml-of-nowhere.so.1") == nullptr);
  CHECK(Nvml::load("libm.so.6") == nullptr);
  CHECK_FALSE(NvmlDevice::find(nullptr, "GPU-known"));
  flag("gemmtune_fake_nvml_refuse_init") = 1;
  CHECK(Nvml::load(GEMMTUNE_FAKE_NVML) == nullptr);
  flag("gemmtune_fake_nvml_refuse_init") = 0;
  CHECK(flag("gemmtune_fake_nvml_running") == 0);
}

TEST_CASE("a sample holds what the library offers") {
  const ClockSample seen = sample();
  CHECK(seen.sm_clock_mhz == 1755);
  CHECK(seen.memory_clock_mhz == 3201);
  CHECK(seen.power_w == 690.25);
  CHECK(seen.power_limit_w == 700.0);
  CHECK_FALSE(seen.temperature_c);  // no such entry point
  CHECK(seen.throttle_reasons == uint64_t{4});
}

TEST_CASE("without momentary power, the average is read") {
  flag("gemmtune_fake_nvml_has_instant") = 0;
  CHECK(sample().power_w == 650.5);
  flag("gemmtune_fake_nvml_has_instant") = 1;
}

TEST_CASE("refused queries leave fields empty") {
  flag("gemmtune_fake_nvml_refuse") = 1;
  CHECK(sample() == ClockSample{});
  flag("gemmtune_fake_nvml_refuse") = 0;
}

TEST_CASE("the library is shut down with its last owner") {
  {
    auto device = NvmlDevice::find(Nvml::load(GEMMTUNE_FAKE_NVML), "GPU-known");
    const auto copy = device;
    device.reset();
    CHECK(flag("gemmtune_fake_nvml_running") == 1);
  }
  CHECK(flag("gemmtune_fake_nvml_running") == 0);
  CHECK_FALSE(NvmlDevice::find(Nvml::load(GEMMTUNE_FAKE_NVML), "GPU-other"));
}

TEST_CASE("throttle reasons have names, and only limits slow a kernel down") {
  using Names = std::vector<std::string>;
  CHECK(throttle_reason_names(0).empty());
  CHECK(throttle_reason_names(0x1 | 0x4 | 0x100 | 0x1000) ==
        Names{"gpu_idle", "sw_power_cap", "display_clock_setting", "bit 12"});
  CHECK(throttle_reason_names(kPowerLimit) == Names{"sw_power_cap"});
  CHECK(throttle_reason_names(kSlowingReasons) ==
        Names{"sw_power_cap", "hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown",
              "hw_power_brake_slowdown"});
}
