#include "gpu/context.h"

#include <string>
#include <utility>

namespace gemmtune::gpu {

Context::Context(std::shared_ptr<const Driver> driver, int ordinal)
    : driver_(std::move(driver)), ordinal_(ordinal) {}

Context::~Context() {
  if (handle_ == nullptr || lost()) return;
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

ScopedContext::ScopedContext(ScopedContext&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)) {}

ScopedContext::~ScopedContext() {
  if (context_ == nullptr) return;
  // Also after a reset: the stack of the thread still holds the entry.
  CUcontext popped = nullptr;
  context_->driver().report_cleanup(context_->api().ctx_pop_current(&popped), "leaving a context");
}

}  // namespace gemmtune::gpu
