// A management library that knows one GPU and refuses some queries, as one in a virtual machine
// does.
#include <nvml.h>

#include <cstring>

extern "C" {

int gemmtune_fake_nvml_running = 0;      // inits not yet shut down
int gemmtune_fake_nvml_refuse = 0;       // 1: every query is refused
int gemmtune_fake_nvml_refuse_init = 0;  // 1: does not start
int gemmtune_fake_nvml_has_instant = 1;  // 0: no momentary power

static int device_object = 0;

static nvmlReturn_t answer(unsigned value, unsigned* result) {
  if (gemmtune_fake_nvml_refuse != 0) return NVML_ERROR_NOT_SUPPORTED;
  *result = value;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2() {
  if (gemmtune_fake_nvml_refuse_init != 0) return NVML_ERROR_DRIVER_NOT_LOADED;
  ++gemmtune_fake_nvml_running;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() {
  --gemmtune_fake_nvml_running;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) {
  if (std::strcmp(uuid, "GPU-known") != 0) return NVML_ERROR_NOT_FOUND;
  *device = reinterpret_cast<nvmlDevice_t>(&device_object);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t, nvmlClockType_t type, unsigned* mhz) {
  return answer(type == NVML_CLOCK_SM ? 1755 : 3201, mhz);
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t, unsigned* milliwatts) {
  return answer(650500, milliwatts);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t, unsigned* milliwatts) {
  return answer(700000, milliwatts);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t, unsigned long long* reasons) {
  *reasons = 4;
  return gemmtune_fake_nvml_refuse != 0 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t, int count, nvmlFieldValue_t* values) {
  if (gemmtune_fake_nvml_refuse != 0) return NVML_ERROR_NOT_SUPPORTED;
  for (int i = 0; i < count; ++i) {
    const bool known = values[i].fieldId == 186 && gemmtune_fake_nvml_has_instant != 0;
    values[i].nvmlReturn = known ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    values[i].value.uiVal = 690250;
  }
  return NVML_SUCCESS;
}

// No nvmlDeviceGetTemperature and no ...ClocksEventReasons: the former is missing altogether, the
// latter is answered under its older name.

}  // extern "C"
