#include "gpu/driver.h"

#include <array>
#include <cstdio>
#include <utility>

namespace gemmtune::gpu {
namespace {

constexpr int kMinDriverVersion = 12000;

ErrorKind kind_of(CUresult code) {
  switch (code) {
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_NOT_SUPPORTED:
      return ErrorKind::unsupported;
    case CUDA_ERROR_NOT_FOUND:
      return ErrorKind::not_found;
    default:
      return ErrorKind::failed;
  }
}

// "GPU-8f6b2c1a-...": how nvidia-smi and NVML write it.
std::string uuid_text(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += hex.data();
  }
  return text;
}

}  // namespace

Driver::Driver(SharedLibrary library, DriverOptions options)
    : library_(std::move(library)), options_(std::move(options)) {}

Expected<std::shared_ptr<const Driver>> Driver::load(DriverOptions options) {
  auto library = SharedLibrary::open(options.library);
  if (!library) {
    return make_error(ErrorKind::unsupported, "no NVIDIA driver: " + library.error().message);
  }
  const std::shared_ptr<Driver> driver(new Driver(std::move(*library), std::move(options)));
  if (auto resolved = driver->resolve(); !resolved) return tl::unexpected(resolved.error());
  if (auto initialised = driver->initialise(); !initialised) {
    return tl::unexpected(initialised.error());
  }
  return driver;
}

Expected<void> Driver::resolve() {
  std::string missing;
#define GEMMTUNE_RESOLVE_ENTRY(member, function, name)                          \
  api_.member = reinterpret_cast<decltype(api_.member)>(library_.symbol(name)); \
  if (api_.member == nullptr && missing.empty()) missing = name;
  GEMMTUNE_DRIVER_ENTRIES(GEMMTUNE_RESOLVE_ENTRY)
#undef GEMMTUNE_RESOLVE_ENTRY
#define GEMMTUNE_RESOLVE_OPTIONAL_ENTRY(member, function, name) \
  api_.member = reinterpret_cast<decltype(api_.member)>(library_.symbol(name));
  GEMMTUNE_OPTIONAL_DRIVER_ENTRIES(GEMMTUNE_RESOLVE_OPTIONAL_ENTRY)
#undef GEMMTUNE_RESOLVE_OPTIONAL_ENTRY
  if (missing.empty()) return {};
  return make_error(ErrorKind::unsupported, library_.name() + " has no " + missing +
                                                ": a driver for CUDA 12.0 or newer is needed");
}

Expected<void> Driver::initialise() {
  if (const CUresult code = api_.init(0); code != CUDA_SUCCESS) {
    const CudaError failure = error(code, "starting the NVIDIA driver");
    return make_error(ErrorKind::unsupported, failure.message);
  }
  if (const CUresult code = api_.driver_get_version(&version_); code != CUDA_SUCCESS) {
    return tl::unexpected(error(code, "asking for the driver's version"));
  }
  if (version_ < kMinDriverVersion) {
    return make_error(ErrorKind::unsupported,
                      "the NVIDIA driver supports CUDA " + std::to_string(version_ / 1000) + "." +
                          std::to_string(version_ % 1000 / 10) +
                          " only: a driver for CUDA 12.0 or newer is needed");
  }
  int count = 0;
  if (const CUresult code = api_.device_get_count(&count); code != CUDA_SUCCESS) {
    return tl::unexpected(error(code, "counting the devices"));
  }
  if (count == 0) {
    return make_error(ErrorKind::unsupported, "the NVIDIA driver is installed, but sees no device");
  }
  return {};
}

Result<std::vector<Device>> Driver::devices() const {
  int count = 0;
  if (auto counted = check(api_.device_get_count(&count), "counting the devices"); !counted) {
    return tl::unexpected(counted.error());
  }
  std::vector<Device> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto found = device(ordinal);
    if (!found) return tl::unexpected(found.error());
    devices.push_back(std::move(*found));
  }
  return devices;
}

Result<Device> Driver::device(int ordinal) const {
  CUdevice handle = 0;
  std::array<char, 256> name{};
  CUuuid uuid{};
  size_t memory_bytes = 0;
  Device device;
  int l2_bytes = 0;
  int compute_mode = CU_COMPUTEMODE_DEFAULT;
  CUresult code = api_.device_get(&handle, ordinal);
  if (code == CUDA_SUCCESS) code = api_.device_get_name(name.data(), name.size(), handle);
  if (code == CUDA_SUCCESS) code = api_.device_get_uuid(&uuid, handle);
  if (code == CUDA_SUCCESS) code = api_.device_total_mem(&memory_bytes, handle);
  const std::pair<CUdevice_attribute, int*> attributes[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &device.arch.major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &device.arch.minor},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &device.sm_count},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &device.max_smem_bytes_per_block},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &device.clock_khz},
      {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &device.memory_clock_khz},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &compute_mode},
  };
  for (const auto& [attribute, value] : attributes) {
    if (code == CUDA_SUCCESS) code = api_.device_get_attribute(value, attribute, handle);
  }
  if (code != CUDA_SUCCESS) {
    return tl::unexpected(error(code, "asking about device " + std::to_string(ordinal)));
  }
  device.ordinal = ordinal;
  device.one_process = compute_mode != CU_COMPUTEMODE_DEFAULT;
  device.name = name.data();
  device.uuid = uuid_text(uuid);
  device.memory_bytes = static_cast<int64_t>(memory_bytes);
  device.l2_bytes = l2_bytes;
  device.driver_version = version_;
  return device;
}

Result<void> Driver::check(CUresult code, std::string_view what) const {
  if (code == CUDA_SUCCESS) return {};
  return tl::unexpected(error(code, what));
}

CudaError Driver::error(CUresult code, std::string_view what) const {
  const char* name = nullptr;
  const char* text = nullptr;
  std::string message = std::string(what) + " failed: ";
  // Both refuse codes that they do not know.
  if (api_.get_error_name(code, &name) != CUDA_SUCCESS || name == nullptr) {
    message += "CUDA error " + std::to_string(static_cast<int>(code));
  } else {
    message += name;
  }
  if (api_.get_error_string(code, &text) == CUDA_SUCCESS && text != nullptr) {
    message.append(" (").append(text).append(")");
  }
  return {kind_of(code), std::move(message), static_cast<int>(code)};
}

void Driver::report_cleanup(CUresult code, std::string_view what) const noexcept {
  if (code == CUDA_SUCCESS || !options_.on_cleanup_error) return;
  options_.on_cleanup_error(error(code, what));
}

}  // namespace gemmtune::gpu
