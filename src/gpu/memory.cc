#include "gpu/memory.h"

#include <string>

namespace gemmtune::gpu {

Result<DeviceBuffer> DeviceBuffer::allocate(std::shared_ptr<const Context> context, size_t bytes) {
  CUdeviceptr address = 0;
  if (bytes > 0) {
    const std::string what = "allocating " + std::to_string(bytes) + " bytes on the device";
    if (auto made = context->call_inside(
            what, [&](const DriverApi& api) { return api.mem_alloc(&address, bytes); });
        !made) {
      return tl::unexpected(made.error());
    }
  }
  return DeviceBuffer({std::move(context), address}, bytes);
}

Result<void> DeviceBuffer::check_range(size_t offset, size_t bytes) const {
  if (offset <= size_bytes_ && bytes <= size_bytes_ - offset) return {};
  return cuda_error(ErrorKind::usage, "a range of " + std::to_string(bytes) + " bytes at " +
                                          std::to_string(offset) + " is outside a buffer of " +
                                          std::to_string(size_bytes_));
}

Result<void> DeviceBuffer::copy_from_host(CUstream stream, std::span<const std::byte> source,
                                          size_t offset) const {
  if (auto inside = check_range(offset, source.size()); !inside || source.empty()) return inside;
  return handle_.context().call("copying to the device", [&](const DriverApi& api) {
    return api.memcpy_htod_async(address() + offset, source.data(), source.size(), stream);
  });
}

Result<void> DeviceBuffer::copy_to_host(CUstream stream, std::span<std::byte> target,
                                        size_t offset) const {
  if (auto inside = check_range(offset, target.size()); !inside || target.empty()) return inside;
  return handle_.context().call("copying from the device", [&](const DriverApi& api) {
    return api.memcpy_dtoh_async(target.data(), address() + offset, target.size(), stream);
  });
}

Result<void> DeviceBuffer::copy_from_device(CUstream stream, const DeviceBuffer& source) const {
  if (auto inside = check_range(0, source.size_bytes()); !inside || source.size_bytes() == 0) {
    return inside;
  }
  return handle_.context().call("copying on the device", [&](const DriverApi& api) {
    return api.memcpy_dtod_async(address(), source.address(), source.size_bytes(), stream);
  });
}

Result<void> DeviceBuffer::fill_bytes(CUstream stream, uint8_t value) const {
  return fill_bytes(stream, value, 0, size_bytes_);
}

Result<void> DeviceBuffer::fill_bytes(CUstream stream, uint8_t value, size_t offset,
                                      size_t bytes) const {
  if (auto inside = check_range(offset, bytes); !inside || bytes == 0) return inside;
  return handle_.context().call("filling device memory", [&](const DriverApi& api) {
    return api.memset_d8_async(address() + offset, value, bytes, stream);
  });
}

Result<void> DeviceBuffer::fill_words(CUstream stream, uint32_t value) const {
  const size_t words = size_bytes_ / sizeof(value);
  if (words == 0) return {};
  return handle_.context().call("filling device memory", [&](const DriverApi& api) {
    return api.memset_d32_async(address(), value, words, stream);
  });
}

Result<PinnedBuffer> PinnedBuffer::allocate(std::shared_ptr<const Context> context, size_t bytes) {
  void* address = nullptr;
  if (bytes > 0) {
    const std::string what = "allocating " + std::to_string(bytes) + " bytes of pinned memory";
    if (auto made = context->call_inside(
            what, [&](const DriverApi& api) { return api.mem_host_alloc(&address, bytes, 0); });
        !made) {
      return tl::unexpected(made.error());
    }
  }
  return PinnedBuffer({std::move(context), address}, bytes);
}

}  // namespace gemmtune::gpu
