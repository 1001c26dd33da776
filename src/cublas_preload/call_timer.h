#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "cublas_preload/product_table.h"

namespace gemmtune::cublas_preload {

// What the timer uses of the CUDA driver.
struct TimerDriver {
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  CUresult (*ctx_get_id)(CUcontext, unsigned long long*) = nullptr;  // of CUDA 12
  decltype(&::cuStreamIsCapturing) stream_is_capturing = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) exchange_capture_mode = nullptr;
  CUresult (*event_create)(CUevent*, unsigned int) = nullptr;
  CUresult (*event_record)(CUevent, CUstream) = nullptr;
  CUresult (*event_query)(CUevent) = nullptr;
  CUresult (*event_elapsed_time)(float*, CUevent, CUevent) = nullptr;

  // The driver that the process has loaded; nothing where it has none, or one that lacks an entry.
  static TimerDriver loaded();
  bool usable() const { return event_elapsed_time != nullptr; }
};

// Takes the GPU time of some calls: a pair of events around the call on its stream, read when they
// have happened. Never waits, never touches a stream under capture. The time that this costs is
// kept below a hundredth of the time since the first call. Thread-safe.
//
// Events are of the context that is current in the call, and are only touched while that context is
// current again. They are not destroyed: they end with the context.
class CallTimer {
 public:
  explicit CallTimer(const TimerDriver& driver);

  // Whether a call on the stream would be captured. Where another stream's capture forbids to use
  // this one it says no, and start() takes no time.
  bool is_capturing(CUstream stream) const;

  // The number of a pair of events whose first one was recorded, or -1: this call is not timed.
  // `calls` is how often its product was called before.
  int start(CUstream stream, uint64_t calls);
  // Records the second event. The time goes to `samples` later; to nothing if that is null.
  void stop(int pair, CUstream stream, Samples* samples);

  // Stores the times of pairs that are over. Called by start(); again when the process ends.
  void collect();

 private:
  enum class State { unused, idle, started, pending };
  struct Pair {
    State state = State::unused;
    CUcontext context = nullptr;
    unsigned long long context_id = 0;
    CUevent first = nullptr;
    CUevent second = nullptr;
    Samples* samples = nullptr;
  };
  class Quietly;

  bool wanted(uint64_t calls) const;
  bool find_context(CUcontext& context, unsigned long long& id) const;
  int take_pair(CUcontext context, unsigned long long id);
  void collect_locked(CUcontext context, unsigned long long id);

  TimerDriver driver_;
  std::mutex mutex_;  // of all below
  std::array<Pair, 64> pairs_ = {};
  std::atomic<int64_t> spent_ns_ = 0;
  int64_t began_ns_;
};

}  // namespace gemmtune::cublas_preload
