// Whatever driver call fails, nothing leaks, nothing is freed twice, and the caller's context is
// as it was.
#include <doctest/doctest.h>

#include <map>

#include "fake_driver.h"
#include "gpu/event.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "gpu/module.h"

using namespace gemmtune;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;  // NOLINT(google-build-using-namespace)

namespace {

// One of everything, in the order a tuner would make them.
Expected<void> run_all(const std::shared_ptr<const Driver>& driver) {
  auto context = Context::retain(driver, 0);
  if (!context) return tl::unexpected(context.error());
  auto memory = (*context)->memory();
  if (!memory) return tl::unexpected(memory.error());
  auto stream = Stream::create(*context);
  if (!stream) return tl::unexpected(stream.error());
  auto begin = Event::create(*context);
  if (!begin) return tl::unexpected(begin.error());
  auto end = Event::create(*context);
  if (!end) return tl::unexpected(end.error());
  auto buffer = DeviceBuffer::allocate(*context, 128);
  if (!buffer) return tl::unexpected(buffer.error());
  auto pinned = PinnedBuffer::allocate(*context, 128);
  if (!pinned) return tl::unexpected(pinned.error());
  const std::string image = "kernel";
  auto module = Module::load(*context, std::as_bytes(std::span(image)));
  if (!module) return tl::unexpected(module.error());
  auto function = module->function("kernel");
  if (!function) return tl::unexpected(function.error());
  auto scope = (*context)->enter();
  if (!scope) return tl::unexpected(scope.error());
  if (auto filled = buffer->fill_bytes(stream->handle(), 0); !filled) {
    return tl::unexpected(filled.error());
  }
  auto graph = Graph::capture(*stream, [&] { return function->launch({}, stream->handle(), 1); });
  if (!graph) return tl::unexpected(graph.error());
  auto exec = graph->instantiate();
  if (!exec) return tl::unexpected(exec.error());
  for (auto&& step : {begin->record(stream->handle()), exec->launch(*stream),
                      end->record(stream->handle()), stream->synchronize()}) {
    if (!step) return tl::unexpected(step.error());
  }
  auto time = elapsed_us(*begin, *end);
  if (!time) return tl::unexpected(time.error());
  return {};
}

bool is_cleanup(const std::string& symbol) {
  for (const char* word : {"Free", "Destroy", "Unload", "Release", "PopCurrent"}) {
    if (symbol.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the whole life of every handle is clean") {
  const fake_cuda::Fixture fixture;
  REQUIRE(run_all(fixture.driver));
  CHECK(fixture.fake.live() == 0);
  CHECK(fixture.fake.misuses().empty());
  CHECK(fixture.cleanup_errors->empty());
}

TEST_CASE("every call may fail once, and nothing leaks") {
  std::vector<std::string> calls;
  {
    const fake_cuda::Fixture fixture;
    const auto before = fixture.fake.calls().size();
    REQUIRE(run_all(fixture.driver));
    calls = fixture.fake.calls();
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(before));
  }
  REQUIRE(calls.size() > 40);
  std::map<std::string, int> seen;
  for (const std::string& symbol : calls) {
    const int skip = seen[symbol]++;
    CAPTURE(symbol);
    CAPTURE(skip);
    const fake_cuda::Fixture fixture;
    fixture.fake.fail(symbol, CUDA_ERROR_UNKNOWN, skip);
    const auto result = run_all(fixture.driver);
    if (is_cleanup(symbol)) {
      // Too late to fail, but reported; the handle it was to free is the fake's to lose.
      CHECK(fixture.cleanup_errors->size() >= 1);
      continue;
    }
    // A push may fail in a destructor: then the work itself is done.
    if (symbol != "cuCtxPushCurrent_v2") CHECK_FALSE(result);
    if (result) {
      CHECK(fixture.cleanup_errors->size() >= 1);
      continue;
    }
    CHECK(fixture.fake.live() == 0);
    CHECK(fixture.fake.misuses().empty());
    CUcontext current = nullptr;
    fixture.driver->api().ctx_get_current(&current);
    CHECK(current == nullptr);
  }
}
