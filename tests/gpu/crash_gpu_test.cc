// A kernel that crashes: told from other failures, and final.
#include <doctest/doctest.h>

#include "device_fixture.h"
#include "gpu/memory.h"

using namespace gemmtune;            // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu_test;  // NOLINT(google-build-using-namespace)

namespace {

void run_scale(const std::shared_ptr<Context>& context) {
  const auto stream = Stream::create(context).value();
  const auto module = load_ptx(context).value();
  const auto function = module.function("scale").value();
  const auto buffer = DeviceBuffer::allocate(context, sizeof(float)).value();
  const auto scope = context->enter();
  float value = 21;
  const auto bytes = std::as_writable_bytes(std::span<float, 1>(&value, 1));
  REQUIRE(buffer.copy_from_host(stream.handle(), bytes));
  const ScaleArguments arguments{static_cast<float*>(buffer.data()), 1, 2};
  REQUIRE(function.launch({}, stream.handle(), arguments));
  REQUIRE(buffer.copy_to_host(stream.handle(), bytes));
  REQUIRE(stream.synchronize());
  CHECK(value == 42);
}

CudaError crash(const std::shared_ptr<Context>& context) {
  const auto stream = Stream::create(context).value();
  const auto module = load_ptx(context).value();
  const auto function = module.function("crash").value();
  const auto scope = context->enter();
  REQUIRE(function.launch_raw({}, stream.handle(), {}));
  const auto waited = stream.synchronize();
  REQUIRE_FALSE(waited);
  return waited.error();
}

}  // namespace

// An illegal address is final for the process: the driver's documentation says so for
// CUDA_ERROR_ILLEGAL_ADDRESS, and an H200 with driver 580 agrees, reset or not. What must hold is
// that every later call says context_lost() and none hangs or crashes.
TEST_CASE("a crash is told from other failures, and everything after it refuses clearly") {
  const auto driver = gpu_test::driver();
  const auto context = Context::retain(driver, 0).value();
  run_scale(context);
  const CudaError error = crash(context);
  MESSAGE(error.message);
  CHECK(error.context_lost());
  CHECK(DeviceBuffer::allocate(context, 1024).error().context_lost());
  static_cast<void>(context->reset());
  CHECK(context->lost());
  const auto again = Context::retain(driver, 0);
  if (!again) {
    CHECK(again.error().context_lost());
    return;
  }
  const auto stream = Stream::create(*again);
  if (!stream) CHECK(stream.error().context_lost());
  MESSAGE("a new context ", stream ? "works" : "is refused", " after the reset");
}
