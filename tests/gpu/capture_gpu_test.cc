// What `run` asks the driver for while a program captures must not end the capture.
#include <doctest/doctest.h>

#include "cublas_preload/call_timer.h"
#include "cublas_preload/own/run_driver.h"
#include "cublas_preload/own/workspaces.h"
#include "device_fixture.h"
#include "gpu/graph.h"

using namespace gemmtune;                  // NOLINT(google-build-using-namespace)
using namespace gemmtune::cublas_preload;  // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu_test;        // NOLINT(google-build-using-namespace)

namespace {

constexpr size_t kBytes = size_t{1} << 20;

struct Captured : DeviceFixture {
  gpu::ScopedContext scope = context->enter().value();
  RunDriver run = RunDriver::loaded();
  Workspaces workspaces{run, {}};

  Captured() {
    REQUIRE(run.usable());
    REQUIRE(workspaces.for_stream(stream.handle(), kBytes) != nullptr);
    workspaces.prepare_captures(kBytes);
  }

  // Whether a capture of `call` goes on to its end.
  template <class Call>
  bool survives(const Call& call) {
    const auto graph = gpu::Graph::capture(stream, [&]() -> gpu::Result<void> {
      call();
      return {};
    });
    return graph.has_value();
  }
};

TEST_CASE_FIXTURE(Captured, "a captured stream gets a workspace of its own") {
  void* first = nullptr;
  void* again = nullptr;
  CHECK(survives([&] {
    CHECK(run.capture_of(stream.handle()) == Capture::yes);
    first = workspaces.for_capture(stream.handle(), kBytes);
    again = workspaces.for_capture(stream.handle(), kBytes);
  }));
  CHECK(first != nullptr);
  CHECK(first == again);
  CHECK(first != workspaces.for_stream(stream.handle(), kBytes));
}

TEST_CASE_FIXTURE(Captured, "memory may be taken for another stream meanwhile") {
  const gpu::Stream other = gpu::Stream::create(context).value();
  CHECK(survives([&] { CHECK(workspaces.for_stream(other.handle(), 2 * kBytes) != nullptr); }));
}

TEST_CASE_FIXTURE(Captured, "calls are not timed under capture, and earlier times can be read") {
  CallTimer timer(TimerDriver::loaded());
  Samples samples;
  const int pair = timer.start(stream.handle(), 0);
  REQUIRE(pair >= 0);
  timer.stop(pair, stream.handle(), &samples);
  CHECK(survives([&] {
    CHECK(timer.is_capturing(stream.handle()));
    CHECK(timer.start(stream.handle(), 1) == -1);
    timer.collect();
  }));
}

}  // namespace
