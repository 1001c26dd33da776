#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/error.h"
#include "gpu/cuda_error.h"
#include "gpu/driver_api.h"
#include "gpu/shared_library.h"

namespace gemmtune::gpu {

struct DriverOptions {
  std::string library = "libcuda.so.1";
  // Told of failures in destructors, which cannot report otherwise. Must not throw; may be called
  // from any thread.
  std::function<void(const CudaError&)> on_cleanup_error;
};

// The CUDA driver, opened at run time and initialised. Immutable, so thread-safe. Everything made
// from it shares ownership, so it outlives its handles.
class Driver {
 public:
  // ErrorKind::unsupported, with what is missing, if there is no driver library, it is too old
  // (before CUDA 12.0), or it sees no device.
  static Expected<std::shared_ptr<const Driver>> load(DriverOptions options = {});

  // Every device, in the driver's order (Device::ordinal is the index).
  Result<std::vector<Device>> devices() const;
  Result<Device> device(int ordinal) const;

  int version() const { return version_; }  // e.g. 13000
  const DriverApi& api() const { return api_; }
  const std::string& library_name() const { return library_.name(); }

  // Success, or the error of `code` with `what` (a short phrase, "copying to the device") before
  // the driver's own name and text.
  Result<void> check(CUresult code, std::string_view what) const;
  CudaError error(CUresult code, std::string_view what) const;

  // For destructors: hands a failure to DriverOptions::on_cleanup_error.
  void report_cleanup(CUresult code, std::string_view what) const noexcept;

 private:
  Driver(SharedLibrary library, DriverOptions options);
  Expected<void> resolve();
  Expected<void> initialise();

  SharedLibrary library_;
  DriverOptions options_;
  DriverApi api_;
  int version_ = 0;
};

}  // namespace gemmtune::gpu
