#include <doctest/doctest.h>

#include <array>
#include <stdexcept>

#include "fake_driver.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "gpu/module.h"

using namespace gemmtune;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;  // NOLINT(google-build-using-namespace)

namespace {

// A stream and a kernel that counts its launches.
struct Counting : fake_cuda::Fixture {
  Counting() {
    fake.define_kernel("count", [this](const fake_cuda::Launch&) { ++count; });
  }
  Result<void> launch() const { return function.launch({}, stream.handle(), 0); }
  // The stream works as if nothing had been captured on it.
  void check_usable() {
    const auto scope = context->enter();
    const int before = count;
    REQUIRE(launch());
    CHECK(count == before + 1);
    CHECK(stream.synchronize());
    CHECK(fake.live("graph") == 0);
    CHECK(fake.misuses().empty());
  }

  int count = 0;
  std::shared_ptr<Context> context = retain();
  Stream stream = Stream::create(context).value();
  std::string image = "count";
  Module module = Module::load(context, std::as_bytes(std::span(image))).value();
  Function function = module.function("count").value();
};

}  // namespace

TEST_CASE("captured work runs when the graph is launched, every time") {
  Counting counting;
  {
    auto graph = Graph::capture(counting.stream, [&]() -> Result<void> {
      for (int i = 0; i < 5; ++i) {
        if (auto launched = counting.launch(); !launched) return launched;
      }
      return {};
    });
    REQUIRE(graph);
    CHECK(counting.count == 0);
    CHECK(graph->node_count().value() == 5);
    const auto exec = graph->instantiate().value();
    graph = cuda_error(ErrorKind::failed, "dropped");  // the executable graph stands alone
    CHECK(counting.fake.live("graph") == 0);
    REQUIRE(exec.upload(counting.stream));
    CHECK(counting.count == 0);
    const auto scope = counting.context->enter();
    REQUIRE(exec.launch(counting.stream));
    CHECK(counting.count == 5);
    REQUIRE(exec.launch(counting.stream));
    CHECK(counting.count == 10);
  }
  CHECK(counting.fake.live("graph exec") == 0);
  counting.check_usable();
}

TEST_CASE("a callable that fails ends the capture and passes its error on") {
  Counting counting;
  const auto graph = Graph::capture(counting.stream, [&]() -> Result<void> {
    if (auto launched = counting.launch(); !launched) return launched;
    return make_error(ErrorKind::usage, "no such plan");
  });
  REQUIRE_FALSE(graph);
  CHECK(graph.error().kind == ErrorKind::usage);
  CHECK(graph.error().message == "no such plan");
  CHECK(counting.count == 0);
  counting.check_usable();
}

TEST_CASE("a callable that throws ends the capture") {
  Counting counting;
  CHECK_THROWS_AS(static_cast<void>(Graph::capture(counting.stream,
                                                   [&]() -> Result<void> {
                                                     REQUIRE(counting.launch());
                                                     throw std::runtime_error("stop");
                                                   })),
                  std::runtime_error);
  counting.check_usable();
}

TEST_CASE("an allocation while capturing spoils the capture, not the stream") {
  Counting counting;
  const auto graph = Graph::capture(counting.stream, [&]() -> Result<void> {
    const auto buffer = DeviceBuffer::allocate(counting.context, 64);
    CHECK_FALSE(buffer);
    return {};
  });
  REQUIRE_FALSE(graph);
  CHECK(graph.error().code == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  counting.check_usable();
}

TEST_CASE("each driver call of a capture may fail") {
  for (const char* symbol : {"cuStreamBeginCapture_v2", "cuLaunchKernelEx"}) {
    CAPTURE(symbol);
    Counting counting;
    counting.fake.fail(symbol, CUDA_ERROR_UNKNOWN);
    CHECK_FALSE(Graph::capture(counting.stream, [&] { return counting.launch(); }));
    counting.check_usable();
  }
  Counting counting;
  const auto graph = Graph::capture(counting.stream, [&] { return counting.launch(); }).value();
  counting.fake.fail("cuGraphInstantiateWithFlags", CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(graph.instantiate().error().out_of_memory());
  CHECK(counting.fake.live("graph exec") == 0);
}

TEST_CASE("copies are captured too, and read their source at launch") {
  Counting counting;
  const auto buffer = DeviceBuffer::allocate(counting.context, 4).value();
  std::array<std::byte, 4> host{};
  const auto graph = Graph::capture(counting.stream, [&] {
                       return buffer.copy_from_host(counting.stream.handle(), host);
                     }).value();
  const auto exec = graph.instantiate().value();
  host.fill(std::byte{3});
  const auto scope = counting.context->enter();
  REQUIRE(exec.launch(counting.stream));
  std::array<std::byte, 4> back{};
  REQUIRE(buffer.copy_to_host(counting.stream.handle(), back));
  CHECK(back == host);
}
