#include "cublas_preload/call_timer.h"

#include <algorithm>
#include <ctime>

#include "cublas_preload/loaded_driver.h"

namespace gemmtune::cublas_preload {
namespace {

constexpr uint64_t kFirstCalls = 8;  // all of these are timed, ...
constexpr uint64_t kEvery = 64;      // ... and one in so many further ones
constexpr int64_t kShare = 100;
constexpr int64_t kFreeNs = 10'000'000;  // for short programs
// What takes longer waits: for a full queue, as the program's next call would, or for a processor.
constexpr int64_t kMostOfOneNs = 100'000;
constexpr float kUsPerMs = 1000;

int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

TimerDriver TimerDriver::loaded() {
  TimerDriver driver;
  void* const library = loaded_driver();
  if (library == nullptr) return {};
  const bool complete =
      resolve(library, "cuCtxGetCurrent", driver.ctx_get_current) &&
      resolve(library, "cuCtxGetId", driver.ctx_get_id) &&
      resolve(library, "cuStreamIsCapturing", driver.stream_is_capturing) &&
      resolve(library, "cuThreadExchangeStreamCaptureMode", driver.exchange_capture_mode) &&
      resolve(library, "cuEventCreate", driver.event_create) &&
      resolve(library, "cuEventRecord", driver.event_record) &&
      resolve(library, "cuEventQuery", driver.event_query) &&
      resolve(library, "cuEventElapsedTime", driver.event_elapsed_time);
  return complete ? driver : TimerDriver{};
}

// While it lives, calls of this thread are allowed that a capture elsewhere would forbid (and be
// ended by), and their time is counted.
class CallTimer::Quietly {
 public:
  explicit Quietly(CallTimer& timer) : timer_(timer), began_ns_(now_ns()) {
    timer_.driver_.exchange_capture_mode(&mode_);
  }
  ~Quietly() {
    timer_.driver_.exchange_capture_mode(&mode_);
    timer_.spent_ns_.fetch_add(std::min(now_ns() - began_ns_, kMostOfOneNs),
                               std::memory_order_relaxed);
  }
  Quietly(const Quietly&) = delete;
  Quietly& operator=(const Quietly&) = delete;

 private:
  CallTimer& timer_;
  int64_t began_ns_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

CallTimer::CallTimer(const TimerDriver& driver) : driver_(driver), began_ns_(now_ns()) {}

bool CallTimer::is_capturing(CUstream stream) const {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver_.usable() && driver_.stream_is_capturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool CallTimer::wanted(uint64_t calls) const {
  if (!driver_.usable() || (calls >= kFirstCalls && calls % kEvery != 0)) return false;
  return spent_ns_.load(std::memory_order_relaxed) < kFreeNs + (now_ns() - began_ns_) / kShare;
}

bool CallTimer::find_context(CUcontext& context, unsigned long long& id) const {
  return driver_.ctx_get_current(&context) == CUDA_SUCCESS && context != nullptr &&
         driver_.ctx_get_id(context, &id) == CUDA_SUCCESS;
}

int CallTimer::take_pair(CUcontext context, unsigned long long id) {
  int unused = -1;
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    if (pair.state == State::idle && pair.context == context && pair.context_id == id)
      return static_cast<int>(i);
    if (pair.state == State::unused) unused = static_cast<int>(i);
  }
  if (unused < 0) return -1;
  Pair made;
  made.context = context;
  made.context_id = id;
  if (driver_.event_create(&made.first, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
      driver_.event_create(&made.second, CU_EVENT_DEFAULT) != CUDA_SUCCESS)
    return -1;
  made.state = State::idle;
  pairs_[static_cast<size_t>(unused)] = made;
  return unused;
}

int CallTimer::start(CUstream stream, uint64_t calls) {
  if (!wanted(calls)) return -1;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return -1;
  const Quietly quietly(*this);
  CUcontext context = nullptr;
  unsigned long long id = 0;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!find_context(context, id) || driver_.stream_is_capturing(stream, &status) != CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_NONE)
    return -1;
  collect_locked(context, id);
  const int taken = take_pair(context, id);
  if (taken < 0) return -1;
  Pair& pair = pairs_[static_cast<size_t>(taken)];
  if (driver_.event_record(pair.first, stream) != CUDA_SUCCESS) return -1;
  pair.state = State::started;
  return taken;
}

void CallTimer::stop(int number, CUstream stream, Samples* samples) {
  if (number < 0) return;
  const std::lock_guard lock(mutex_);
  const Quietly quietly(*this);
  Pair& pair = pairs_[static_cast<size_t>(number)];
  pair.samples = samples;
  const bool recorded =
      samples != nullptr && driver_.event_record(pair.second, stream) == CUDA_SUCCESS;
  pair.state = recorded ? State::pending : State::idle;
}

void CallTimer::collect() {
  if (!driver_.usable()) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  const Quietly quietly(*this);
  CUcontext context = nullptr;
  unsigned long long id = 0;
  if (find_context(context, id)) collect_locked(context, id);
}

void CallTimer::collect_locked(CUcontext context, unsigned long long id) {
  for (Pair& pair : pairs_) {
    if (pair.context != context || pair.state == State::unused || pair.state == State::started)
      continue;
    if (pair.context_id != id) {
      pair = {};  // of a context that is gone
      continue;
    }
    if (pair.state != State::pending) continue;
    const CUresult happened = driver_.event_query(pair.second);
    if (happened == CUDA_ERROR_NOT_READY) continue;
    float ms = 0;
    if (happened == CUDA_SUCCESS &&
        driver_.event_elapsed_time(&ms, pair.first, pair.second) == CUDA_SUCCESS)
      ProductTable::add_sample(*pair.samples, ms * kUsPerMs);
    pair.state = State::idle;
  }
}

}  // namespace gemmtune::cublas_preload
