#include <doctest/doctest.h>

#include <vector>

#include "device_fixture.h"
#include "gpu/event.h"
#include "gpu/graph.h"
#include "gpu/memory.h"
#include "gpu/nvml.h"

using namespace gemmtune;            // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu;       // NOLINT(google-build-using-namespace)
using namespace gemmtune::gpu_test;  // NOLINT(google-build-using-namespace)

namespace {

// A device array of floats, and the `scale` kernel over it.
struct Scaling : DeviceFixture {
  static constexpr int kCount = 1000;

  Scaling() {
    const auto scope = context->enter();
    REQUIRE(buffer.copy_from_host(stream.handle(), std::as_bytes(std::span(host))));
    REQUIRE(stream.synchronize());
  }

  Result<void> launch(float factor, LaunchConfig config = {}) const {
    config.grid = {8, 1, 1};
    config.block = {128, 1, 1};
    const ScaleArguments arguments{static_cast<float*>(buffer.data()), kCount, factor};
    return function.launch(config, stream.handle(), arguments);
  }

  std::vector<float> values() const {
    std::vector<float> back(kCount);
    const auto scope = context->enter();
    REQUIRE(buffer.copy_to_host(stream.handle(), std::as_writable_bytes(std::span(back))));
    REQUIRE(stream.synchronize());
    return back;
  }

  void check_scaled_by(float factor) const {
    const std::vector<float> seen = values();
    int wrong = 0;
    for (size_t i = 0; i < seen.size(); ++i) wrong += seen[i] == host[i] * factor ? 0 : 1;
    CHECK(wrong == 0);
  }

  std::vector<float> host = [] {
    std::vector<float> values(kCount);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 500.0F;
    return values;
  }();
  DeviceBuffer buffer = DeviceBuffer::allocate(context, kCount * sizeof(float)).value();
  Module module = load_ptx(context).value();
  Function function = module.function("scale").value();
};

}  // namespace

TEST_CASE("the device is described plausibly") {
  const DeviceFixture fixture;
  const Device& device = fixture.device;
  MESSAGE(device.name << " " << device.uuid << " " << to_string(device.arch) << " driver "
                      << device.driver_version);
  CHECK_FALSE(device.name.empty());
  CHECK(device.uuid.size() == 40);
  CHECK(device.arch.number() >= 75);
  CHECK(device.sm_count > 0);
  CHECK(device.memory_bytes > int64_t{1} << 30);
  CHECK(device.l2_bytes >= 1 << 20);
  CHECK(device.max_smem_bytes_per_block >= 64 * 1024);
  CHECK(device.clock_khz > 100000);
  CHECK(fixture.driver->devices().value().size() >= 1);
  const MemoryInfo memory = fixture.context->memory().value();
  CHECK(memory.free_bytes > 0);
  CHECK(memory.free_bytes <= memory.total_bytes);
}

TEST_CASE("copies and fills round-trip") {
  const DeviceFixture fixture;
  const auto buffer = DeviceBuffer::allocate(fixture.context, 4096).value();
  const auto pinned = PinnedBuffer::allocate(fixture.context, 4096).value();
  const auto scope = fixture.context->enter();
  for (size_t i = 0; i < 4096; ++i) pinned.bytes()[i] = static_cast<std::byte>(i * 7);
  REQUIRE(buffer.fill_bytes(fixture.stream.handle(), 0xab));
  REQUIRE(buffer.copy_from_host(fixture.stream.handle(), pinned.bytes().first(1000), 500));
  std::vector<std::byte> back(4096);
  REQUIRE(buffer.copy_to_host(fixture.stream.handle(), back));
  REQUIRE(fixture.stream.synchronize());
  for (size_t i = 0; i < 4096; ++i) {
    const bool copied = i >= 500 && i < 1500;
    REQUIRE(back[i] == (copied ? pinned.bytes()[i - 500] : std::byte{0xab}));
  }
  REQUIRE(buffer.fill_words(fixture.stream.handle(), 0x7fc00001));
  uint32_t word = 0;
  REQUIRE(buffer.copy_to_host(fixture.stream.handle(),
                              std::as_writable_bytes(std::span<uint32_t, 1>(&word, 1)), 4092));
  REQUIRE(fixture.stream.synchronize());
  CHECK(word == 0x7fc00001);
}

TEST_CASE("a kernel from PTX launches") {
  const Scaling scaling;
  const auto attributes = scaling.function.attributes().value();
  CHECK(attributes.registers > 0);
  CHECK(attributes.local_bytes == 0);
  CHECK(attributes.binary_arch == scaling.device.arch.number());
  CHECK(scaling.function.blocks_per_sm(128, 0).value() > 1);
  {
    const auto scope = scaling.context->enter();
    REQUIRE(scaling.launch(3));
  }
  scaling.check_scaled_by(3);
}

TEST_CASE("all of the device's shared memory can be asked for, and no more") {
  const Scaling scaling;
  const int most = scaling.device.max_smem_bytes_per_block;
  LaunchConfig config;
  config.dynamic_smem_bytes = most;
  const auto scope = scaling.context->enter();
  CHECK_FALSE(scaling.launch(2, config));
  REQUIRE(scaling.function.set_max_dynamic_smem(most));
  CHECK(scaling.function.blocks_per_sm(128, most).value() == 1);
  REQUIRE(scaling.launch(2, config));
  scaling.check_scaled_by(2);
  CHECK_FALSE(scaling.function.set_max_dynamic_smem(most + 1024));
}

TEST_CASE("clusters launch where the device has them") {
  const Scaling scaling;
  if (scaling.device.arch.major < 9) return;
  LaunchConfig config;
  config.cluster = {2, 1, 1};
  const auto scope = scaling.context->enter();
  REQUIRE(scaling.launch(2, config));
  scaling.check_scaled_by(2);
}

TEST_CASE("a captured graph runs as often as it is launched, and is timed") {
  const Scaling scaling;
  const auto graph = Graph::capture(scaling.stream, [&]() -> Result<void> {
                       for (int i = 0; i < 4; ++i) {
                         if (auto launched = scaling.launch(2); !launched) return launched;
                       }
                       return {};
                     }).value();
  CHECK(graph.node_count().value() == 4);
  scaling.check_scaled_by(1);
  const auto exec = graph.instantiate().value();
  REQUIRE(exec.upload(scaling.stream));
  const auto begin = Event::create(scaling.context).value();
  const auto end = Event::create(scaling.context).value();
  const auto scope = scaling.context->enter();
  REQUIRE(begin.record(scaling.stream.handle()));
  REQUIRE(exec.launch(scaling.stream));
  REQUIRE(exec.launch(scaling.stream));
  REQUIRE(end.record(scaling.stream.handle()));
  REQUIRE(end.synchronize());
  const double us = elapsed_us(begin, end).value();
  MESSAGE("8 launches in two graphs: " << us << " us");
  CHECK(us > 0);
  CHECK(us < 100000);
  scaling.check_scaled_by(256);
}

TEST_CASE("a failed capture leaves the stream usable") {
  const Scaling scaling;
  const auto failed = Graph::capture(scaling.stream, [&]() -> Result<void> {
    REQUIRE(scaling.launch(2));
    return cuda_error(ErrorKind::failed, "changed my mind");
  });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "changed my mind");
  const auto spoiled = Graph::capture(scaling.stream, [&]() -> Result<void> {
    CHECK_FALSE(scaling.stream.synchronize());
    return {};
  });
  CHECK_FALSE(spoiled);
  const auto scope = scaling.context->enter();
  REQUIRE(scaling.launch(5));
  scaling.check_scaled_by(5);
}

TEST_CASE("errors that are not sticky leave the context usable") {
  const DeviceFixture fixture;
  const auto huge = DeviceBuffer::allocate(fixture.context, size_t{1} << 50);
  REQUIRE_FALSE(huge);
  CHECK(huge.error().out_of_memory());
  const std::string_view text = ".version 7.0\n.target sm_75\nnonsense";
  const auto bad = Module::load(fixture.context, std::as_bytes(std::span(text)));
  REQUIRE_FALSE(bad);
  MESSAGE(bad.error().message);
  CHECK(bad.error().kind == ErrorKind::unsupported);
  CHECK_FALSE(bad.error().context_lost());
  CHECK(load_ptx(fixture.context).value().function("nothing").error().kind == ErrorKind::not_found);
  CHECK(fixture.context->synchronize());
}

TEST_CASE("clocks and power are sampled") {
  const DeviceFixture fixture;
  const auto nvml = NvmlDevice::find(Nvml::load(), fixture.device.uuid);
  if (!nvml) {
    MESSAGE("no NVML for this device");
    return;
  }
  const ClockSample sample = nvml->sample();
  MESSAGE("SM " << sample.sm_clock_mhz.value_or(-1) << " MHz, memory "
                << sample.memory_clock_mhz.value_or(-1) << " MHz, " << sample.power_w.value_or(-1)
                << " of " << sample.power_limit_w.value_or(-1) << " W, "
                << sample.temperature_c.value_or(-1) << " C, reasons "
                << sample.throttle_reasons.value_or(0));
  if (sample.sm_clock_mhz) CHECK(*sample.sm_clock_mhz > 0);
  if (sample.power_w && sample.power_limit_w) CHECK(*sample.power_w < 2 * *sample.power_limit_w);
  if (sample.temperature_c) CHECK(*sample.temperature_c < 120);
}
