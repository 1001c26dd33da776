#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gpu/handle.h"

namespace gemmtune::gpu {

// Device memory. Move-only. Copies and fills are enqueued on `stream` and need the context current;
// offsets and sizes are in bytes, and a range outside the buffer is ErrorKind::usage with nothing
// enqueued. Host ranges must stay valid until the stream has passed the copy (the driver copies
// from pageable memory before it returns, from pinned memory it does not).
class DeviceBuffer {
 public:
  // `bytes` may be 0: then address() is 0. The start is aligned to at least 256 bytes. An error
  // with out_of_memory() names the size that was asked for.
  static Result<DeviceBuffer> allocate(std::shared_ptr<const Context> context, size_t bytes);

  Result<void> copy_from_host(CUstream stream, std::span<const std::byte> source,
                              size_t offset = 0) const;
  Result<void> copy_to_host(CUstream stream, std::span<std::byte> target, size_t offset = 0) const;
  Result<void> copy_from_device(CUstream stream, const DeviceBuffer& source) const;  // whole source
  Result<void> fill_bytes(CUstream stream, uint8_t value) const;
  Result<void> fill_bytes(CUstream stream, uint8_t value, size_t offset, size_t bytes) const;
  // Fills whole 32-bit words; a remainder of 1 to 3 bytes keeps its value.
  Result<void> fill_words(CUstream stream, uint32_t value) const;

  CUdeviceptr address() const { return handle_.get(); }
  // For kernel arguments: a device address, never dereferenced on the host.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's own mapping of the two
  void* data() const { return reinterpret_cast<void*>(handle_.get()); }
  size_t size_bytes() const { return size_bytes_; }

 private:
  using Owner = Handle<CUdeviceptr, &DriverApi::mem_free>;
  DeviceBuffer(Owner handle, size_t bytes) : handle_(std::move(handle)), size_bytes_(bytes) {}
  Result<void> check_range(size_t offset, size_t bytes) const;

  Owner handle_;
  size_t size_bytes_ = 0;
};

// Page-locked host memory, which copies at full speed and without blocking. Move-only.
class PinnedBuffer {
 public:
  static Result<PinnedBuffer> allocate(std::shared_ptr<const Context> context, size_t bytes);

  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(handle_.get()), size_bytes_};
  }

 private:
  using Owner = Handle<void*, &DriverApi::mem_free_host>;
  PinnedBuffer(Owner handle, size_t bytes) : handle_(std::move(handle)), size_bytes_(bytes) {}

  Owner handle_;
  size_t size_bytes_ = 0;
};

}  // namespace gemmtune::gpu
