#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <utility>

#include "fake_driver.h"
#include "gpu/event.h"
#include "gpu/module.h"
#include "gpu/stream.h"

using namespace gemmtune;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;  // NOLINT(google-build-using-namespace)

namespace {

struct Arguments {
  int64_t a = 0;
  int b = 0;
};

Result<Module> load(const std::shared_ptr<Context>& context, const std::string& image) {
  return Module::load(context, std::as_bytes(std::span(image)));
}

// A kernel on a stream of a fake driver's context, which is not current.
struct Launchable {
  fake_cuda::Fixture fixture;
  std::shared_ptr<Context> context = fixture.retain();
  Stream stream = Stream::create(context).value();
  Module module = load(context, "kernel").value();
  Function function = module.function("kernel").value();

  explicit Launchable(int version = 0) : fixture(1, version) {}
};

}  // namespace

TEST_CASE("modules load text and binaries, and name what they lack") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  // Text that is not terminated: only the first 5 characters are the image.
  const std::string text = "gemm1gemm2";
  const auto module = Module::load(context, std::as_bytes(std::span(text)).first(5)).value();
  CHECK(module.function("gemm1"));
  const auto missing = module.function("gemm2");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(missing.error().message.find("'gemm2'") != std::string::npos);
  const std::string binary("\177ELFgemm3\0", 10);
  CHECK(load(context, binary).value().function("gemm3"));
  CHECK(fixture.fake.live("module") == 1);
}

TEST_CASE("a module that cannot be loaded says why") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto bad = load(context, "BAD");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().kind == ErrorKind::unsupported);
  CHECK(bad.error().message ==
        "loading a module failed: CUDA error 218: line 1: parse error line 2: and more");
  const auto foreign = load(context, "FOREIGN");
  REQUIRE_FALSE(foreign);
  CHECK(foreign.error().kind == ErrorKind::unsupported);
  CHECK(load(context, "").error().kind == ErrorKind::usage);
  CHECK(fixture.fake.live("module") == 0);
}

TEST_CASE("a launch carries its geometry and arguments") {
  const Launchable it;
  const auto scope = it.context->enter();
  LaunchConfig config;
  config.grid = {7, 5, 3};
  config.block = {64, 2, 1};
  config.dynamic_smem_bytes = 1234;
  const Arguments arguments{1LL << 40, 42};
  REQUIRE(it.function.launch(config, it.stream.handle(), arguments));
  config.cluster = {2, 1, 1};
  REQUIRE(it.function.launch_raw(config, it.stream.handle(), {}));

  const auto launches = it.fixture.fake.launches();
  REQUIRE(launches.size() == 2);
  CHECK(launches[0].kernel == "kernel");
  CHECK(launches[0].grid == std::array{7U, 5U, 3U});
  CHECK(launches[0].block == std::array{64U, 2U, 1U});
  CHECK(launches[0].cluster == std::array{1U, 1U, 1U});
  CHECK(launches[0].dynamic_smem_bytes == 1234);
  REQUIRE(launches[0].arguments.size() == sizeof(Arguments));
  Arguments seen;
  std::memcpy(&seen, launches[0].arguments.data(), sizeof(seen));
  CHECK(seen.a == arguments.a);
  CHECK(seen.b == arguments.b);
  CHECK(launches[1].cluster == std::array{2U, 1U, 1U});
  CHECK(launches[1].arguments.empty());
}

// Older drivers cannot capture such a launch into a graph.
TEST_CASE("launches overlap from drivers of CUDA 12.3 on") {
  for (const auto& [version, overlaps] : {std::pair(12020, false), std::pair(12030, true)}) {
    const Launchable it(version);
    const auto scope = it.context->enter();
    LaunchConfig config;
    config.cluster = {2, 1, 1};
    REQUIRE(it.function.launch_raw(config, it.stream.handle(), {}));
    config.overlaps_previous = true;
    REQUIRE(it.function.launch_raw(config, it.stream.handle(), {}));
    const auto launches = it.fixture.fake.launches();
    REQUIRE(launches.size() == 2);
    CHECK(!launches[0].overlaps_previous);
    CHECK(launches[1].overlaps_previous == overlaps);
    CHECK(launches[1].cluster == std::array{2U, 1U, 1U});
  }
}

TEST_CASE("a launch needs its context current, and shared memory allowed") {
  const Launchable it;
  LaunchConfig config;
  CHECK(it.function.launch(config, it.stream.handle(), 0).error().code ==
        CUDA_ERROR_INVALID_CONTEXT);
  const auto scope = it.context->enter();
  config.dynamic_smem_bytes = 100 * 1024;
  CHECK_FALSE(it.function.launch(config, it.stream.handle(), 0));
  CHECK(it.function.set_max_dynamic_smem(100 * 1024));
  CHECK(it.function.launch(config, it.stream.handle(), 0));
  CHECK(it.function.attributes().value().max_dynamic_smem_bytes == 100 * 1024);
  CHECK_FALSE(it.function.set_max_dynamic_smem(1 << 20));
}

TEST_CASE("attributes and occupancy are passed through") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto module = load(context, "kernel").value();
  const auto function = module.function("kernel").value();
  const auto attributes = function.attributes().value();
  CHECK(attributes.registers == 64);
  CHECK(attributes.local_bytes == 8);
  CHECK(attributes.static_smem_bytes == 2048);
  CHECK(attributes.max_threads_per_block == 1024);
  CHECK(attributes.max_dynamic_smem_bytes == 48 * 1024);
  CHECK(attributes.binary_arch == 90);
  CHECK(function.blocks_per_sm(256, 0).value() == 8);
  CHECK(function.blocks_per_sm(256, 100 * 1024).value() == 2);
  LaunchConfig config;
  config.cluster = {2, 2, 1};
  CHECK(function.max_active_clusters(config).value() == 33);
}

TEST_CASE("events time what lies between them, in microseconds") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto stream = Stream::create(context).value();
  const auto begin = Event::create(context).value();
  const auto end = Event::create(context).value();
  const auto module = load(context, "kernel").value();
  const auto function = module.function("kernel").value();
  const auto scope = context->enter();
  CHECK_FALSE(elapsed_us(begin, end));  // not recorded
  REQUIRE(begin.record(stream.handle()));
  for (int i = 0; i < 3; ++i) REQUIRE(function.launch({}, stream.handle(), i));
  REQUIRE(end.record(stream.handle()));
  CHECK(end.synchronize());
  CHECK(end.reached().value());
  CHECK(stream.finished().value());
  CHECK(elapsed_us(begin, end).value() == doctest::Approx(30));
}

TEST_CASE("polling tells unfinished work from failure") {
  const fake_cuda::Fixture fixture;
  const auto context = fixture.retain();
  const auto stream = Stream::create(context).value();
  const auto event = Event::create(context).value();
  fixture.fake.fail("cuStreamQuery", CUDA_ERROR_NOT_READY);
  fixture.fake.fail("cuEventQuery", CUDA_ERROR_NOT_READY);
  CHECK_FALSE(stream.finished().value());
  CHECK_FALSE(event.reached().value());
  fixture.fake.fail("cuStreamQuery", CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(stream.finished().error().context_lost());
}
