#include "tuner/performance_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/search_space.h"

namespace gemmtune::tuner {
namespace {

const DeviceSpec& h200() {
  const DeviceSpec* spec = find_device_spec("h200");
  REQUIRE(spec != nullptr);
  return *spec;
}

codegen::KernelSpec good_spec() {
  codegen::KernelSpec spec;
  spec.strategy = *codegen::find_strategy("double_buffer");
  spec.tile = *parse_tile(
      "tile_m=128 tile_n=128 tile_k=8 warp_m=64 warp_n=32 thread_m=8 thread_n=8 lanes=1 order=2 "
      "fragments=2 raster=4");
  spec.traits = {true, true, 4, 4, 4};
  return spec;
}

// Values checked against the CUDA occupancy calculator's rules for compute capability 9.0.
TEST_CASE("occupancy names what limits it") {
  const Occupancy registers = occupancy(h200(), 256, 128, 16 * 1024);
  CHECK(registers.blocks_per_sm == 2);
  CHECK(registers.warps_per_sm == 16);
  CHECK(std::string(registers.limited_by) == "registers");
  const Occupancy smem = occupancy(h200(), 128, 32, 100 * 1024);
  CHECK(smem.blocks_per_sm == 2);
  CHECK(std::string(smem.limited_by) == "shared memory");
  const Occupancy threads = occupancy(h200(), 1024, 16, 0);
  CHECK(threads.blocks_per_sm == 2);
  const Occupancy blocks = occupancy(h200(), 32, 16, 0);
  CHECK(blocks.blocks_per_sm == 32);
  CHECK(occupancy(h200(), 1024, 255, 0).blocks_per_sm == 0);
  CHECK(occupancy(h200(), 32, 32, 1 << 20).blocks_per_sm == 0);
}

TEST_CASE("a prediction never beats the arithmetic or the memory of the card") {
  std::mt19937 random(4);
  const auto& strategy = **codegen::find_strategy("double_buffer");
  const auto space = *codegen::default_search_space(strategy);
  for (int i = 0; i < 3000; ++i) {
    const auto size = [&] { return std::uniform_int_distribution<int64_t>(1, 4096)(random); };
    const Problem p = make_problem({size(), size(), size()});
    const auto index = std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random);
    const codegen::KernelSpec spec{&strategy, space.at(index), codegen::traits_for(p), p.type};
    if (codegen::broken_rule(spec, h200()) != nullptr) continue;
    const Prediction out = predict(spec, strategy.estimated_registers(spec), p, h200());
    const double peak_us = flops(p) / (2.0 * 128 * 132 * h200().boost_clock_mhz);
    CHECK(out.total_us >= peak_us);
    CHECK(out.total_us >= min_bytes_moved(p) / (h200().memory_gb_per_s * 1e3));
    CHECK(std::isfinite(out.total_us));
  }
}

TEST_CASE("the model orders what is known to differ") {
  const Problem p = make_problem({4096, 4096, 4096});
  const auto time = [&](const codegen::KernelSpec& spec) {
    return predict(spec, 128, p, h200()).total_us;
  };
  const codegen::KernelSpec good = good_spec();
  codegen::KernelSpec row_order = good;
  row_order.tile.order = kOrderRowMajor;
  CHECK(time(row_order) > time(good));
  codegen::KernelSpec small = good;
  small.tile.thread_m = small.tile.thread_n = 4;
  small.tile.warp_m = 32;
  small.tile.warp_n = 16;
  CHECK(time(small) > time(good));
  codegen::KernelSpec scalar = good;
  scalar.traits = {true, true, 1, 1, 1};
  CHECK(time(scalar) > time(good));
}

TEST_CASE("a kernel that does not fit has no finite time") {
  CHECK(std::isinf(predict(good_spec(), 300, make_problem({64, 64, 64}), h200()).total_us));
}

}  // namespace
}  // namespace gemmtune::tuner
