#include "cublas_preload/call_timer.h"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <thread>
#include <vector>

#include "../test_folder.h"

namespace gemmtune::cublas_preload {
namespace {

// A GPU where every event happens when `now` reaches it.
struct FakeGpu {
  CUcontext context = reinterpret_cast<CUcontext>(0x100);
  unsigned long long context_id = 1;
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult capture_query = CUDA_SUCCESS;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUresult record = CUDA_SUCCESS;
  float now = 0;                      // ms
  float delay = 0;                    // until a recorded event happens
  std::map<CUevent, float> happens;   // of all events
  std::chrono::milliseconds wait{0};  // of the host, as it records one
  int made = 0;
  int recorded = 0;
  int calls_in_strict_mode = 0;  // that a capture elsewhere would forbid
};

FakeGpu& gpu() {
  static FakeGpu instance;
  return instance;
}

void check_mode() {
  if (gpu().mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++gpu().calls_in_strict_mode;
}

TimerDriver fake_driver() {
  TimerDriver driver;
  driver.ctx_get_current = [](CUcontext* context) {
    *context = gpu().context;
    return CUDA_SUCCESS;
  };
  driver.ctx_get_id = [](CUcontext, unsigned long long* id) {
    *id = gpu().context_id;
    return CUDA_SUCCESS;
  };
  driver.stream_is_capturing = [](CUstream, CUstreamCaptureStatus* status) {
    *status = gpu().capture;
    return gpu().capture_query;
  };
  driver.exchange_capture_mode = [](CUstreamCaptureMode* mode) {
    std::swap(*mode, gpu().mode);
    return CUDA_SUCCESS;
  };
  driver.event_create = [](CUevent* event, unsigned int) {
    check_mode();
    *event = reinterpret_cast<CUevent>(static_cast<uintptr_t>(++gpu().made));
    return CUDA_SUCCESS;
  };
  driver.event_record = [](CUevent event, CUstream) {
    check_mode();
    ++gpu().recorded;
    std::this_thread::sleep_for(gpu().wait);
    gpu().happens[event] = gpu().now + gpu().delay;
    return gpu().record;
  };
  driver.event_query = [](CUevent event) {
    check_mode();
    return gpu().happens.at(event) <= gpu().now ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  driver.event_elapsed_time = [](float* ms, CUevent first, CUevent second) {
    *ms = gpu().happens.at(second) - gpu().happens.at(first);
    return CUDA_SUCCESS;
  };
  return driver;
}

struct Fixture {
  CallTimer timer;
  Samples samples;

  Fixture() : timer((gpu() = FakeGpu{}, fake_driver())) {}

  // A call that takes `ms` of the GPU; whether it was timed.
  bool call(float ms, uint64_t calls = 0) {
    const int pair = timer.start(nullptr, calls);
    gpu().now += ms;
    timer.stop(pair, nullptr, &samples);
    return pair >= 0;
  }
};

TEST_CASE_FIXTURE(Fixture, "a call's time is stored once it has happened") {
  CHECK(call(0.25F));
  CHECK(samples.taken == 0);
  timer.collect();
  REQUIRE(samples.taken == 1);
  CHECK(samples.us[0] == doctest::Approx(250));
  CHECK(gpu().calls_in_strict_mode == 0);
  CHECK(gpu().mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_CASE_FIXTURE(Fixture, "nothing waits for the GPU") {
  gpu().delay = 1e6F;
  for (int i = 0; i < 200; ++i) call(0);
  CHECK(samples.taken == 0);
  CHECK(gpu().made == 128);  // as many as there are pairs, and no more
  gpu().now = 2e6F;
  timer.collect();
  CHECK(samples.taken == 64);
}

// For a queue that is full, or for a processor.
TEST_CASE_FIXTURE(Fixture, "waiting is no cost of timing") {
  gpu().wait = std::chrono::milliseconds(1);
  int timed = 0;
  for (int i = 0; i < 20; ++i) timed += call(0) ? 1 : 0;
  CHECK(timed == 20);
}

TEST_CASE_FIXTURE(Fixture, "the first calls and some of the others are timed") {
  int timed = 0;
  for (uint64_t i = 0; i < 640; ++i) timed += call(0.1F, i) ? 1 : 0;
  CHECK(timed == 8 + 9);
}

TEST_CASE_FIXTURE(Fixture, "nothing is done to a stream under capture") {
  gpu().capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  CHECK(timer.is_capturing(nullptr));
  CHECK_FALSE(call(1));
  gpu().capture = CU_STREAM_CAPTURE_STATUS_NONE;
  gpu().capture_query = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;  // another stream's forbids this one
  CHECK_FALSE(timer.is_capturing(nullptr));
  CHECK_FALSE(call(1));
  CHECK(gpu().recorded == 0);
}

TEST_CASE_FIXTURE(Fixture, "events of a context that is gone are not touched") {
  gpu().delay = 5;
  call(1);
  gpu().context_id = 2;  // another context at the same address
  gpu().now = 100;
  gpu().happens.clear();  // whoever asks for the old events fails
  timer.collect();
  CHECK(samples.taken == 0);
  CHECK(call(1));
  gpu().now = 200;
  timer.collect();
  CHECK(samples.taken == 1);
}

TEST_CASE_FIXTURE(Fixture, "a call that failed is not timed, and its events serve again") {
  const int pair = timer.start(nullptr, 0);
  timer.stop(pair, nullptr, nullptr);
  CHECK(gpu().recorded == 1);
  CHECK(call(1));
  CHECK(gpu().made == 2);
}

TEST_CASE_FIXTURE(Fixture, "failures of the driver cost a time and nothing else") {
  gpu().record = CUDA_ERROR_INVALID_HANDLE;
  CHECK_FALSE(call(1));
  gpu().record = CUDA_SUCCESS;
  gpu().context = nullptr;
  CHECK_FALSE(call(1));
  CallTimer without_driver((TimerDriver()));
  CHECK_FALSE(without_driver.is_capturing(nullptr));
  CHECK(without_driver.start(nullptr, 0) == -1);
  without_driver.stop(-1, nullptr, &samples);
  without_driver.collect();
}

}  // namespace
}  // namespace gemmtune::cublas_preload
