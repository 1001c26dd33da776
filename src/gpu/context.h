#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "gpu/cuda_error.h"
#include "gpu/driver.h"

namespace gemmtune::gpu {

class ScopedContext;

struct MemoryInfo {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

// The primary context of one device, retained: the one that the CUDA runtime and its libraries use,
// so buffers and streams can be shared with them. Every handle made in it (Module, Stream,
// DeviceBuffer ...) shares ownership, so the context is released after the last of them.
//
// Making, destroying and synchronizing handles makes the context current for that call only and
// restores the caller's. Work that is enqueued (launch, copy, record) does not, to stay cheap: hold
// a ScopedContext around it.
//
// Surviving a crashed kernel: an error with context_lost() is final for the context. Then
//   context->reset();                            // drops the device state; every handle is inert
//   context = Context::retain(driver, ordinal);  // start again, where the driver allows it
// After CUDA_ERROR_ILLEGAL_ADDRESS it does not (the driver's documentation, and an H200): every
// later call of the process is refused with a context_lost() error, and only a new process helps.
// Inert handles free nothing (their memory is gone already) and refuse work with a context_lost()
// error, so they may be dropped in any order, before or after the reset.
//
// Thread-safe, except that no other thread may use the device during reset().
class Context {
 public:
  static Result<std::shared_ptr<Context>> retain(std::shared_ptr<const Driver> driver, int ordinal);

  // The context that is current on the calling thread: retained if it is a device's primary one,
  // else only borrowed: whoever made it must keep it until this object and all handles made in it
  // are gone. Null if no context is current.
  static Result<std::shared_ptr<Context>> current(std::shared_ptr<const Driver> driver);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Makes the context current on the calling thread until the returned guard is destroyed.
  Result<ScopedContext> enter() const;

  // Waits for all work in the context.
  Result<void> synchronize() const;

  Result<MemoryInfo> memory() const;

  // Destroys the device's state for the whole process, also what others (cuBLAS, the CUDA runtime,
  // another Context of this device) keep in it. Marks this context lost even if it fails. Not for a
  // borrowed context: ErrorKind::usage.
  Result<void> reset();
  bool lost() const { return lost_.load(std::memory_order_acquire); }

  // Adds to the time in which the device worked for those who share this object: whoever has it
  // work and waits for it says so.
  void note_busy(double us) const { busy_us_.fetch_add(us, std::memory_order_relaxed); }
  double busy_us() const { return busy_us_.load(std::memory_order_relaxed); }

  int ordinal() const { return ordinal_; }
  CUcontext handle() const { return handle_; }
  const Driver& driver() const { return *driver_; }
  const DriverApi& api() const { return driver_->api(); }

  // Calls the driver through `function(const DriverApi&)` and checks what it returns. Not called in
  // a lost context: its handles would be foreign to the driver by now. `what` as in Driver::check.
  template <class Function>
  Result<void> call(std::string_view what, Function&& function) const {
    if (lost()) return tl::unexpected(lost_error(what));
    return driver_->check(function(api()), what);
  }
  // The same with the context current during the call.
  template <class Function>
  Result<void> call_inside(std::string_view what, Function&& function) const;

 private:
  Context(std::shared_ptr<const Driver> driver, int ordinal);
  CudaError lost_error(std::string_view what) const;

  std::shared_ptr<const Driver> driver_;
  int ordinal_;
  CUdevice device_ = 0;
  CUcontext handle_ = nullptr;
  bool borrowed_ = false;
  std::atomic<bool> lost_ = false;
  mutable std::atomic<double> busy_us_ = 0;
};

// While alive, the device works for its owner, from the first thing that is enqueued to the end of
// the waiting; noted in the context, which must outlive it.
class BusyTime {
 public:
  explicit BusyTime(const Context& context) : context_(context) {}
  ~BusyTime() {
    context_.note_busy(std::chrono::duration<double, std::micro>(Clock::now() - start_).count());
  }
  BusyTime(const BusyTime&) = delete;
  BusyTime& operator=(const BusyTime&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  const Context& context_;
  Clock::time_point start_ = Clock::now();
};

// While alive, the calling thread's driver calls do not disturb captures of other threads, nor its
// own: for loading modules, which a capture in the default mode would forbid. The context must
// outlive it.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Context& context) : context_(context) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange();

  const Context& context_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// While alive, the context is current on the thread that made it; afterwards the one that was
// current before is again. Destroy on the same thread, in reverse order of making. The Context must
// outlive it.
class ScopedContext {
 public:
  ScopedContext(ScopedContext&& other) noexcept;
  ScopedContext& operator=(ScopedContext&&) = delete;
  ~ScopedContext();

 private:
  friend class Context;
  explicit ScopedContext(const Context* context) : context_(context) {}

  const Context* context_;
};

template <class Function>
Result<void> Context::call_inside(std::string_view what, Function&& function) const {
  const auto scope = enter();
  if (!scope) return tl::unexpected(scope.error());
  return call(what, std::forward<Function>(function));
}

}  // namespace gemmtune::gpu
