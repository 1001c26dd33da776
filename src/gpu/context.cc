#include "gpu/context.h"

#include <string>
#include <utility>

namespace gemmtune::gpu {

Context::Context(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)), ordinal_(ordinal) {}

Context::~Context() {
  if (handle_ == nullptr || borrowed_ || lost()) return;
  driver_->report_cleanup(api().primary_ctx_release(device_), "releasing a context");
}

Result<std::shared_ptr<Context>> Context::retain(std::shared_ptr<const Driver> driver,
                                                 int ordinal) {
  const std::shared_ptr<Context> context(new Context(std::move(driver), ordinal));
  const DriverApi& api = context->api();
  const std::string what = "opening device " + std::to_string(ordinal);
  if (auto found = context->driver_->check(api.device_get(&context->device_, ordinal), what);
      !found) {
    return tl::unexpected(found.error());
  }
  if (auto retained = context->driver_->check(
          api.primary_ctx_retain(&context->handle_, context->device_), what);
      !retained) {
    return tl::unexpected(retained.error());
  }
  return context;
}

Result<std::shared_ptr<Context>> Context::current(std::shared_ptr<const Driver> driver) {
  const DriverApi& api = driver->api();
  constexpr std::string_view kWhat = "asking for the current context";
  CUcontext handle = nullptr;
  if (auto asked = driver->check(api.ctx_get_current(&handle), kWhat); !asked)
    return tl::unexpected(asked.error());
  if (handle == nullptr) return std::shared_ptr<Context>();
  CUdevice device = 0;
  unsigned flags = 0;
  int active = 0;
  CUresult code = api.ctx_get_device(&device);
  if (code == CUDA_SUCCESS) code = api.primary_ctx_state(device, &flags, &active);
  if (auto asked = driver->check(code, kWhat); !asked) return tl::unexpected(asked.error());
  // Devices are numbered by their ordinals. Retaining an inactive primary context would create it.
  if (active != 0) {
    auto primary = retain(driver, device);
    if (!primary || (*primary)->handle_ == handle) return primary;
  }
  const std::shared_ptr<Context> context(new Context(std::move(driver), device));
  context->device_ = device;
  context->handle_ = handle;
  context->borrowed_ = true;
  return context;
}

Result<ScopedContext> Context::enter() const {
  if (auto pushed = call("entering a context",
                         [&](const DriverApi& api) { return api.ctx_push_current(handle_); });
      !pushed) {
    return tl::unexpected(pushed.error());
  }
  return ScopedContext(this);
}

Result<void> Context::synchronize() const {
  return call_inside("waiting for the device",
                     [](const DriverApi& api) { return api.ctx_synchronize(); });
}

Result<MemoryInfo> Context::memory() const {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  if (auto asked = call_inside(
          "asking for free memory",
          [&](const DriverApi& api) { return api.mem_get_info(&free_bytes, &total_bytes); });
      !asked) {
    return tl::unexpected(asked.error());
  }
  return MemoryInfo{static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
}

Result<void> Context::reset() {
  if (borrowed_) return cuda_error(ErrorKind::usage, "a borrowed context cannot be reset");
  if (lost_.exchange(true, std::memory_order_acq_rel)) return {};
  // A reset destroys the state but keeps our reference, so that is given back as well.
  const CUresult reset = api().primary_ctx_reset(device_);
  const CUresult released = api().primary_ctx_release(device_);
  if (auto done = driver_->check(reset, "resetting the device"); !done) return done;
  return driver_->check(released, "releasing a context");
}

CudaError Context::lost_error(std::string_view what) const {
  return {ErrorKind::failed, std::string(what) + " failed: its context was reset",
          CUDA_ERROR_CONTEXT_IS_DESTROYED};
}

void RelaxedCapture::exchange() {
  if (context_.lost()) return;
  context_.driver().report_cleanup(context_.api().exchange_capture_mode(&mode_),
                                   "changing the capture mode");
}

ScopedContext::ScopedContext(ScopedContext&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)) {}

ScopedContext::~ScopedContext() {
  if (context_ == nullptr) return;
  // Also after a reset: the stack of the thread still holds the entry.
  CUcontext popped = nullptr;
  context_->driver().report_cleanup(context_->api().ctx_pop_current(&popped), "leaving a context");
}

}  // namespace gemmtune::gpu
