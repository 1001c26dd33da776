#pragma once

#include <atomic>
#include <thread>

namespace gemmtune::cublas_preload {

// A lock to hold for some ten nanoseconds, e.g. with std::lock_guard: half of what a std::mutex
// costs where nobody else has it. Who has to wait gives the processor to others.
class SpinLock {
 public:
  void lock() noexcept {
    while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

}  // namespace gemmtune::cublas_preload
