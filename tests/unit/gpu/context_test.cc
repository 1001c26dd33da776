#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_driver.h"
#include "gpu/event.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "gpu/module.h"
#include "gpu/stream.h"

using namespace gemmtune;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;  // NOLINT(google-build-using-namespace)

namespace {

CUcontext current(const Driver& driver) {
  CUcontext context = nullptr;
  REQUIRE(driver.api().ctx_get_current(&context) == CUDA_SUCCESS);
  return context;
}

// Launches a kernel that crashes, and waits for it.
CudaError crash(const fake_cuda::Fixture& fixture, const std::shared_ptr<Context>& context) {
  const auto stream = Stream::create(context).value();
  const std::string image = "kernel";
  const auto module = Module::load(context, std::as_bytes(std::span(image))).value();
  fixture.fake.crash_next_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
  const auto scope = context->enter();
  REQUIRE(scope);
  REQUIRE(module.function("kernel").value().launch({}, stream.handle(), 1));
  const auto waited = stream.synchronize();
  REQUIRE_FALSE(waited);
  return waited.error();
}

}  // namespace

TEST_CASE("the caller's context: none, a primary one, one of its own making") {
  const fake_cuda::Fixture fixture(2);
  CHECK(*Context::current(fixture.driver) == nullptr);
  {
    const auto primary = fixture.retain(1);
    const auto entered = primary->enter();
    const auto found = Context::current(fixture.driver).value();
    CHECK(found->handle() == primary->handle());
    CHECK(found->ordinal() == 1);
    CHECK(fixture.fake.live("context") == 2);  // references
  }
  CHECK(fixture.fake.live("context") == 0);
  auto* const own = static_cast<CUcontext>(fixture.fake.create_context(1));
  for (const bool primary_active : {false, true}) {
    CAPTURE(primary_active);
    std::shared_ptr<Context> other;
    if (primary_active) other = fixture.retain(1);
    REQUIRE(fixture.driver->api().ctx_push_current(own) == CUDA_SUCCESS);
    auto found = Context::current(fixture.driver).value();
    CHECK(found->handle() == own);
    CHECK(found->ordinal() == 1);
    CHECK(fixture.fake.live("context") == (primary_active ? 1 : 0));  // not one more
    CHECK(found->reset().error().kind == ErrorKind::usage);
    CHECK_FALSE(found->lost());
    {
      const auto buffer = DeviceBuffer::allocate(found, 64);
      CHECK(buffer);
    }
    found.reset();
    CUcontext popped = nullptr;
    REQUIRE(fixture.driver->api().ctx_pop_current(&popped) == CUDA_SUCCESS);
    CHECK(popped == own);
  }
  CHECK(fixture.fake.misuses().empty());
}

TEST_CASE("in relaxed mode modules may be loaded while the thread captures") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto stream = Stream::create(context).value();
  const std::string_view image = "kernel";
  const auto load = [&] { return Module::load(context, std::as_bytes(std::span(image))); };
  for (const bool relaxed : {false, true}) {
    const auto graph = Graph::capture(stream, [&]() -> Result<void> {
      std::optional<RelaxedCapture> scope;
      if (relaxed) scope.emplace(*context);
      CHECK(load().has_value() == relaxed);
      return {};
    });
    CHECK(graph.has_value() == relaxed);
  }
  CHECK(load());
}

TEST_CASE("a context is retained and released once") {
  const fake_cuda::Fixture fixture(2);
  {
    const auto context = fixture.retain(1);
    CHECK(context->ordinal() == 1);
    CHECK(fixture.fake.live("context") == 1);
    const auto second = fixture.retain(1);
    CHECK(fixture.fake.live("context") == 2);
    CHECK(second->handle() == context->handle());
  }
  CHECK(fixture.fake.live() == 0);
  CHECK(fixture.fake.misuses().empty());
  CHECK_FALSE(Context::retain(fixture.driver, 2));
}

TEST_CASE("a failed retain releases nothing") {
  const fake_cuda::Fixture fixture;
  fixture.fake.fail("cuDevicePrimaryCtxRetain", CUDA_ERROR_OUT_OF_MEMORY);
  const auto context = Context::retain(fixture.driver, 0);
  REQUIRE_FALSE(context);
  CHECK(context.error().out_of_memory());
  CHECK(fixture.fake.misuses().empty());
}

TEST_CASE("entering nests and restores the caller's context") {
  const fake_cuda::Fixture fixture(2);
  const auto mine = fixture.retain(0);
  const auto theirs = fixture.retain(1);
  CHECK(current(*fixture.driver) == nullptr);
  {
    const auto outer = theirs->enter();
    CHECK(current(*fixture.driver) == theirs->handle());
    {
      auto inner = mine->enter();
      CHECK(current(*fixture.driver) == mine->handle());
      const ScopedContext moved = std::move(*inner);  // popped once only
      CHECK(current(*fixture.driver) == mine->handle());
    }
    CHECK(current(*fixture.driver) == theirs->handle());
    // Making and freeing a handle, and waiting, leave it alone.
    { const auto buffer = DeviceBuffer::allocate(mine, 64).value(); }
    CHECK(mine->synchronize());
    CHECK(current(*fixture.driver) == theirs->handle());
  }
  CHECK(current(*fixture.driver) == nullptr);
  CHECK(fixture.fake.misuses().empty());
}

TEST_CASE("contexts are entered per thread") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto scope = context->enter();
  std::thread([&] {
    CUcontext seen = context->handle();
    fixture.driver->api().ctx_get_current(&seen);
    CHECK(seen == nullptr);
    const auto buffer = DeviceBuffer::allocate(context, 64);  // works all the same
    CHECK(buffer.has_value());
  }).join();
  CHECK(current(*fixture.driver) == context->handle());
}

TEST_CASE("handles keep their context alive, and are freed before it") {
  const fake_cuda::Fixture fixture;
  auto context = fixture.retain();
  auto stream = std::make_unique<Stream>(Stream::create(context).value());
  auto event = std::make_unique<Event>(Event::create(context).value());
  context.reset();
  CHECK(fixture.fake.live("context") == 1);
  stream.reset();
  CHECK(fixture.fake.live("context") == 1);
  event.reset();
  CHECK(fixture.fake.live() == 0);
  CHECK(fixture.fake.misuses().empty());
  const auto calls = fixture.fake.calls();
  CHECK(calls.back() == "cuDevicePrimaryCtxRelease_v2");
}

TEST_CASE("free memory follows allocations") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto before = context->memory().value();
  const auto buffer = DeviceBuffer::allocate(context, 1 << 20).value();
  const auto after = context->memory().value();
  CHECK(before.total_bytes == after.total_bytes);
  CHECK(before.free_bytes - after.free_bytes == 1 << 20);
}

TEST_CASE("a crash is told from other failures, and a reset starts afresh") {
  const fake_cuda::Fixture fixture;
  auto context = fixture.retain();
  auto buffer = std::make_unique<DeviceBuffer>(DeviceBuffer::allocate(context, 256).value());
  const auto stream = Stream::create(context).value();
  CHECK(crash(fixture, context).context_lost());
  // Sticky: whatever comes next fails the same way.
  const auto next = DeviceBuffer::allocate(context, 256);
  REQUIRE_FALSE(next);
  CHECK(next.error().context_lost());
  CHECK_FALSE(context->lost());

  REQUIRE(context->reset());
  CHECK(context->lost());
  CHECK(context->reset());  // once is enough
  CHECK(fixture.fake.live() == 0);

  // The driver gives the same context handle again, and may give the same addresses: old handles
  // must not touch it.
  const auto fresh = fixture.retain();
  CHECK(fresh->handle() == context->handle());
  const auto replacement = DeviceBuffer::allocate(fresh, 256).value();
  const auto scope = fresh->enter();
  const auto stale = buffer->fill_bytes(stream.handle(), 0);
  REQUIRE_FALSE(stale);
  CHECK(stale.error().context_lost());
  CHECK_FALSE(stream.synchronize());
  CHECK_FALSE(context->enter());
  buffer.reset();
  context.reset();
  CHECK(fixture.fake.live("memory") == 1);
  CHECK(fixture.fake.live("context") == 1);
  const auto works = Stream::create(fresh).value();
  CHECK(replacement.fill_bytes(works.handle(), 1));
  CHECK(fixture.fake.misuses().empty());
}

TEST_CASE("after a crash, handles dropped without a reset report and do no harm") {
  const fake_cuda::Fixture fixture;
  {
    const auto context = fixture.retain();
    const auto buffer = DeviceBuffer::allocate(context, 256).value();
    crash(fixture, context);
  }
  CHECK_FALSE(fixture.cleanup_errors->empty());
  CHECK(fixture.cleanup_errors->front().find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
  CHECK(fixture.fake.live("context") == 0);
}

TEST_CASE("a reset inside an entered context leaves the stack balanced") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  {
    const auto scope = context->enter();
    CHECK(context->reset());
  }
  CHECK(current(*fixture.driver) == nullptr);
  CHECK(fixture.fake.misuses().empty());
  CHECK(fixture.cleanup_errors->empty());
}

TEST_CASE("a failing reset still makes the context lost") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  fixture.fake.fail("cuDevicePrimaryCtxReset_v2", CUDA_ERROR_UNKNOWN);
  CHECK_FALSE(context->reset());
  CHECK(context->lost());
  CHECK(fixture.fake.live("context") == 0);
}

TEST_CASE("a context counts the time in which the device worked for its owner") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  CHECK(context->busy_us() == 0);
  context->note_busy(20);
  context->note_busy(5);
  CHECK(context->busy_us() == 25);
  {
    const BusyTime busy(*context);
    CHECK(context->busy_us() == 25);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(context->busy_us() > 2000);
  CHECK(fixture.retain()->busy_us() == 0);
}

TEST_CASE("threads share a context") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const std::string image = "kernel";
  const auto module = Module::load(context, std::as_bytes(std::span(image))).value();
  const auto function = module.function("kernel").value();
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto stream = Stream::create(context).value();
        const auto buffer = DeviceBuffer::allocate(context, 64).value();
        const auto scope = context->enter();
        if (!buffer.fill_bytes(stream.handle(), 1)) ++failures;
        if (!function.launch({}, stream.handle(), buffer.address())) ++failures;
        if (!stream.synchronize()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(fixture.fake.launches().size() == kThreads * kRounds);
  CHECK(fixture.fake.live("memory") == 0);
  CHECK(fixture.fake.misuses().empty());
}
