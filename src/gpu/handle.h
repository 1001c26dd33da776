#pragma once

#include <memory>
#include <utility>

#include "gpu/context.h"

namespace gemmtune::gpu {

// Destroys `value` in its context through `destroy`, reporting a failure to the driver's cleanup
// handler; does nothing in a lost context. The one place where handles are freed.
template <class T>
void destroy_handle(const Context& context, CUresult(CUDAAPI* destroy)(T), T value) noexcept {
  if (context.lost()) return;
  const DriverApi& api = context.api();
  const Driver& driver = context.driver();
  const CUresult pushed = api.ctx_push_current(context.handle());
  if (pushed != CUDA_SUCCESS) {
    driver.report_cleanup(pushed, "entering a context to free a handle");
    return;
  }
  driver.report_cleanup(destroy(value), "freeing a handle");
  CUcontext popped = nullptr;
  driver.report_cleanup(api.ctx_pop_current(&popped), "leaving a context");
}

// Sole owner of one driver handle: move-only, destroyed exactly once. `kDestroy` is the DriverApi
// member that frees it.
template <class T, auto kDestroy>
class Handle {
 public:
  Handle() = default;
  Handle(std::shared_ptr<const Context> context, T value)
      : context_(std::move(context)), value_(value) {}
  Handle(Handle&& other) noexcept
      : context_(std::move(other.context_)), value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      close();
      context_ = std::move(other.context_);
      value_ = std::exchange(other.value_, T{});
    }
    return *this;
  }
  ~Handle() { close(); }

  T get() const { return value_; }
  const Context& context() const { return *context_; }
  const std::shared_ptr<const Context>& shared_context() const { return context_; }
  const DriverApi& api() const { return context_->api(); }

 private:
  void close() noexcept {
    if (context_ && value_ != T{}) destroy_handle(*context_, context_->api().*kDestroy, value_);
    value_ = T{};
    context_.reset();
  }

  std::shared_ptr<const Context> context_;
  T value_{};
};

}  // namespace gemmtune::gpu
