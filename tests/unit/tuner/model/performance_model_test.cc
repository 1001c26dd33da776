#include "tuner/model/performance_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/search_space.h"
#include "core/tensor_rate.h"

namespace gemmtune::tuner {
namespace {

const DeviceSpec& h200() {
  const DeviceSpec* spec = find_device_spec("h200");
  REQUIRE(spec != nullptr);
  return *spec;
}

// Of a legal kernel for sm_90, before it is compiled.
double predicted_us(const Problem& p, std::string_view strategy, std::string_view tile) {
  const auto spec =
      codegen::spec_for(**codegen::find_strategy(strategy), *parse_tile(tile), p, {9, 0, false});
  const codegen::Rule* broken = codegen::broken_rule(spec, h200());
  REQUIRE_MESSAGE(broken == nullptr, broken->name);
  return predict(spec, spec.strategy->estimated_registers(spec), p, h200()).total_us;
}

codegen::KernelSpec good_spec() {
  codegen::KernelSpec spec;
  spec.strategy = *codegen::find_strategy("double_buffer");
  spec.tile = *parse_tile(
      "tile_m=128 tile_n=128 tile_k=8 warp_m=64 warp_n=32 thread_m=8 thread_n=8 lanes=1 order=2 "
      "fragments=2 raster=4");
  spec.traits = {true, true, 4, 4, 4, {}};
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

TEST_CASE("a larger C costs its bytes") {
  Problem p = make_problem({16384, 16384, 32}, DataType::bf16, *parse_layout("tnt"));
  const codegen::Strategy& strategy = **codegen::find_strategy("mma_multistage");
  const TileConfig tile = codegen::default_search_space(strategy)->at(0);
  const auto memory_us = [&] {
    return predict(codegen::spec_for(strategy, tile, p, h200().arch), 64, p, h200()).memory_us;
  };
  const double narrow = memory_us();
  p.result = DataType::f32;
  CHECK(memory_us() - narrow ==
        doctest::Approx(2.0 * 16384 * 16384 / (h200().memory_gb_per_s * 1e3)));
}

TEST_CASE("a prediction never beats the arithmetic or the memory of the card") {
  std::mt19937 random(4);
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    CAPTURE(strategy->name());
    const auto space = *codegen::default_search_space(*strategy);
    int legal = 0;
    for (int i = 0; i < 2000 || (legal == 0 && i < 100'000); ++i) {
      const auto size = [&] { return std::uniform_int_distribution<int64_t>(1, 4096)(random); };
      const bool tf32_only = strategy->name() == "wgmma_k_major" ||
                             strategy->name() == "wgmma_direct_tf32" ||
                             strategy->name() == "wgmma_direct_split_k";
      const bool tf32x3_only = strategy->name() == "wgmma_tf32_planes";
      const bool halves = strategy->takes_types() && !tf32_only && !tf32x3_only;
      Problem p = make_problem({size(), size(), size()}, halves ? DataType::f16 : DataType::f32);
      if (tf32_only) p.math = MathMode::tf32;
      if (tf32x3_only) p.math = MathMode::tf32x3;
      if (halves && random() % 2 == 0) p.result = DataType::f32;
      p.layout.a = random() % 2 == 0 ? Order::row_major : Order::column_major;
      p.layout.b = random() % 2 == 0 ? Order::row_major : Order::column_major;
      pack(p);
      const auto index = std::uniform_int_distribution<int64_t>(0, space.size() - 1)(random);
      const codegen::KernelSpec spec =
          codegen::spec_for(*strategy, space.at(index), p, h200().arch);
      if (codegen::broken_rule(spec, h200()) != nullptr) continue;
      ++legal;
      const Prediction out = predict(spec, strategy->estimated_registers(spec), p, h200());
      const double peak_us = on_tensor_cores(p.type, p.math)
                                 ? flops(p) / (tensor_tflops(p.type, p.math, h200()) * 1e6)
                                 : flops(p) / (2.0 * 128 * 132 * h200().boost_clock_mhz);
      CHECK(out.total_us >= peak_us);
      CHECK(out.total_us >= min_bytes_moved(p) / (h200().memory_gb_per_s * 1e3));
      CHECK(std::isfinite(out.total_us));
    }
    CHECK(legal > 0);
  }
}

// What is known of such kernels without a measurement: large warp tiles read shared memory less,
// large blocks copy less, few values of k a tile wait at more barriers.
TEST_CASE("the model orders tensor-core tiles") {
  Problem p = make_problem({4096, 4096, 4096}, DataType::f16, *parse_layout("tnt"));
  const auto time = [&](std::string_view tile) { return predicted_us(p, "mma_multistage", tile); };
  const double good = time(
      "tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 order=1 fragments=2 "
      "raster=8");
  CHECK(good < time("tile_m=128 tile_n=128 tile_k=64 warp_m=32 warp_n=32 stages=3 copy=1 order=1 "
                    "fragments=2 raster=8"));
  CHECK(good < time("tile_m=64 tile_n=64 tile_k=64 warp_m=32 warp_n=32 stages=3 copy=1 order=1 "
                    "fragments=2 raster=8"));
  CHECK(good < time("tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=2 copy=1 order=1 "
                    "fragments=1 raster=8"));
  // Element by element is slower; two fragment buffers would spill there.
  constexpr std::string_view kOneBuffer =
      "tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 order=1 fragments=1 "
      "raster=8";
  const double wide_us = time(kOneBuffer);
  p.align_bytes = 2;
  CHECK(time(kOneBuffer) > wide_us);
  // Between what such kernels reach on this card and half of that.
  const double tflops = flops(p) / good / 1e6;
  CHECK(tflops > 300);
  CHECK(tflops < 613);
}

// What surrounds the mma of 3xtf32 decides there: splitting the fragments, which small warp tiles
// do more often, and adding up outside the tensor cores.
TEST_CASE("the model orders tiles of 3xtf32") {
  Problem p = make_problem({4096, 4096, 4096});
  p.math = MathMode::tf32x3;
  const auto time = [&](std::string_view tile) { return predicted_us(p, "mma_multistage", tile); };
  const double good = time(
      "tile_m=128 tile_n=64 tile_k=32 warp_m=64 warp_n=32 stages=3 copy=1 order=1 fragments=1 "
      "promotion=2");
  CHECK(good < time("tile_m=128 tile_n=64 tile_k=32 warp_m=64 warp_n=32 stages=3 copy=1 order=1 "
                    "fragments=1 promotion=1"));
  CHECK(good < time("tile_m=64 tile_n=64 tile_k=32 warp_m=32 warp_n=32 stages=3 copy=1 order=1 "
                    "fragments=1 promotion=2"));
  // Such kernels reach 66 to 73 on this card.
  const double tflops = flops(p) / good / 1e6;
  CHECK(tflops > 50);
  CHECK(tflops < 100);
}

// Where there are few tiles of C, several blocks or groups of warps for each are faster; where
// there are many, they only add work.
TEST_CASE("the model shares out k where tiles are few") {
  const auto time = [&](const Problem& p, std::string_view strategy, std::string_view parts) {
    const std::string tile =
        "tile_m=64 tile_n=64 tile_k=64 warp_m=32 warp_n=32 stages=3 copy=1 order=1 fragments=2 "
        "raster=1";
    return predicted_us(p, strategy, tile + std::string(parts));
  };
  const Problem tall = make_problem({128, 128, 16384}, DataType::f16, *parse_layout("tnt"));
  const double one_block = time(tall, "mma_multistage", "");
  const double groups = time(tall, "mma_split_k", " groups=4 slices=1");
  const double slices = time(tall, "mma_split_k", " groups=1 slices=33");
  CHECK(groups < one_block);
  CHECK(slices < groups);
  CHECK(time(tall, "mma_split_k", " groups=2 slices=16") <
        time(tall, "mma_split_k", " groups=1 slices=16"));
  const Problem large = make_problem({4096, 4096, 4096}, DataType::f16, *parse_layout("tnt"));
  CHECK(time(large, "mma_multistage", "") < time(large, "mma_split_k", " groups=1 slices=4"));
  CHECK(time(large, "mma_split_k", " groups=1 slices=2") <
        time(large, "mma_split_k", " groups=1 slices=4"));
}

// 160 tiles on 132 SMs are two waves, the second nearly empty; 132 tiles are one.
TEST_CASE("the model shares out the last wave where it is not full") {
  constexpr std::string_view kTile =
      "tile_m=256 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 order=1 fragments=2 "
      "raster=1";
  const auto time = [&](const Problem& p, std::string_view strategy, std::string_view blocks) {
    return predicted_us(p, strategy, std::string(kTile) + std::string(blocks));
  };
  const Problem uneven = make_problem({2560, 2048, 8192}, DataType::f16, *parse_layout("tnt"));
  const double tiles = time(uneven, "mma_multistage", "");
  CHECK(time(uneven, "mma_stream_k", " sharing_blocks=132") < 0.75 * tiles);
  CHECK(time(uneven, "mma_stream_k", " sharing_blocks=132") <
        time(uneven, "mma_stream_k", " sharing_blocks=108"));
  // Nothing is shared then: the kernels are equal.
  const Problem even = make_problem({2816, 1536, 8192}, DataType::f16, *parse_layout("tnt"));
  CHECK(time(even, "mma_stream_k", " sharing_blocks=132") == time(even, "mma_multistage", ""));
}

// Of few tiles each has many blocks, whose sums one of them adds. Measured on an H200, us: the
// first 14.0, by the best other kernel 6.1; the second 40.9, by the best other one 43.0.
TEST_CASE("the model shares out k evenly where few blocks share a tile") {
  const Problem tall = make_problem({128, 128, 16384}, DataType::bf16, *parse_layout("tnt"));
  const double added_by_one = predicted_us(
      tall, "wgmma_stream_k",
      "tile_m=64 tile_n=64 tile_k=64 stages=10 raster=1 sharing_blocks=120 consumers=1 "
      "cluster_m=2 cluster_n=2");
  CHECK(added_by_one >
        1.25 * predicted_us(tall, "wgmma_split_k",
                            "tile_m=64 tile_n=32 tile_k=128 stages=7 slices=8 reduction=2 "
                            "raster=1 consumers=1"));
  const Problem few = make_problem({160, 5120, 13824}, DataType::bf16, *parse_layout("tnt"));
  constexpr std::string_view kTile =
      "tile_m=80 tile_n=128 tile_k=64 stages=7 raster=1 consumers=2 exchange=1 cluster_m=2";
  CHECK(predicted_us(few, "wgmma_stream_k", std::string(kTile) + " sharing_blocks=128") <
        predicted_us(few, "wgmma_tma", kTile));
}

// On the same grounds; and short k tiles do not cover the load of the next one.
TEST_CASE("the model of wmma puts known tiles in order, below the pipelines of cp.async") {
  const Problem p = make_problem({4096, 4096, 4096}, DataType::f16, *parse_layout("tnt"));
  const auto time = [&](std::string_view strategy, std::string_view tile) {
    return predicted_us(p, strategy, tile);
  };
  const double good = time("wmma", "tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 raster=8");
  CHECK(good < time("wmma", "tile_m=128 tile_n=128 tile_k=16 warp_m=64 warp_n=64 raster=8"));
  CHECK(good < time("wmma", "tile_m=128 tile_n=128 tile_k=32 warp_m=32 warp_n=32 raster=8"));
  CHECK(good < time("wmma", "tile_m=64 tile_n=32 tile_k=32 warp_m=32 warp_n=16 raster=8"));
  CHECK(good > time("mma_multistage",
                    "tile_m=128 tile_n=128 tile_k=64 warp_m=64 warp_n=64 stages=3 copy=1 order=1 "
                    "fragments=2 raster=8"));
}

// 64 blocks of one warp with two stages have 0.4 MB on their way to a card that needs 0.75 MB for
// its bandwidth: they wait, tile after tile.
TEST_CASE("the model counts what a kernel has on its way") {
  const DeviceSpec& a100 = *find_device_spec("a100-sxm4-80gb");
  const Problem p = make_problem({16, 4096, 4096}, DataType::bf16, *parse_layout("tnt"));
  const auto predicted = [&](std::string_view strategy, std::string_view tile) {
    const auto spec =
        codegen::spec_for(**codegen::find_strategy(strategy), *parse_tile(tile), p, a100.arch);
    REQUIRE(codegen::broken_rule(spec, a100) == nullptr);
    return predict(spec, spec.strategy->estimated_registers(spec), p, a100);
  };
  const Prediction two_stages =
      predicted("mma_multistage",
                "tile_m=32 tile_n=64 tile_k=32 warp_m=32 warp_n=64 stages=2 copy=1 order=1 "
                "fragments=2 promotion=1 raster=1");
  CHECK(two_stages.waves * two_stages.occupancy.blocks_per_sm * a100.sm_count == 64);
  // 127 loads, one after the other, of half a microsecond at least.
  CHECK(two_stages.total_us > 60);
  const double five_stages =
      predicted("mma_multistage",
                "tile_m=32 tile_n=64 tile_k=32 warp_m=32 warp_n=64 stages=5 copy=1 order=1 "
                "fragments=2 promotion=1 raster=1")
          .total_us;
  const double more_k =
      predicted("mma_multistage",
                "tile_m=32 tile_n=64 tile_k=64 warp_m=32 warp_n=64 stages=5 copy=1 order=1 "
                "fragments=2 promotion=1 raster=1")
          .total_us;
  const double more_blocks =
      predicted("mma_split_k",
                "tile_m=32 tile_n=64 tile_k=32 warp_m=32 warp_n=64 stages=2 copy=1 order=1 "
                "fragments=2 promotion=1 groups=1 slices=4 raster=1")
          .total_us;
  CHECK(five_stages < 0.7 * two_stages.total_us);
  CHECK(more_k < five_stages);
  CHECK(more_blocks < 0.5 * two_stages.total_us);
}

// A warp stays with one of an SM's four schedulers, so alone on its SM it has a quarter of the
// lanes.
TEST_CASE("no block is predicted to multiply faster than its warps' schedulers do") {
  std::mt19937_64 random(5);
  const Problem p = make_problem({512, 512, 512});
  const DeviceSpec& device = *find_device_spec("a100-sxm4-80gb");
  for (const std::string_view name : {"warp_tile", "double_buffer", "split_k", "sliced_k"}) {
    CAPTURE(name);
    const codegen::Strategy& strategy = **codegen::find_strategy(name);
    const auto space = *codegen::default_search_space(strategy);
    int alone = 0;  // kernels of blocks with fewer than four warps, at most one on each SM
    for (const TileConfig& tile : codegen::sample_legal(space, p, device, 2000, random)) {
      const auto spec = codegen::spec_for(strategy, tile, p, device.arch);
      const double warps = strategy.threads(tile) / 32.0;
      const codegen::KernelWork work = strategy.work(spec, p);
      if (warps >= 4 || work.blocks > device.sm_count) continue;
      ++alone;
      const double ffmas = tile.tile_m / 32.0 * tile.tile_n *
                           static_cast<double>(work.block_depth) / warps;  // of each warp
      const double cycles = ffmas / (device.fp32_lanes_per_sm / 4.0 / 32.0);
      CAPTURE(to_string(tile));
      CHECK(predict(spec, strategy.estimated_registers(spec), p, device).total_us >
            cycles / device.boost_clock_mhz);
    }
    CHECK(alone > 0);
  }
}

// The published tiles of the ladder. Rungs that the compiler makes equal may tie.
TEST_CASE("the model climbs the ladder") {
  const Problem p = make_problem({5120, 5120, 5120});
  const auto time = [&](std::string_view strategy, std::string_view tile) {
    const codegen::KernelSpec spec{*codegen::find_strategy(strategy), *parse_tile(tile),
                                   codegen::traits_for(p), p.type};
    REQUIRE(codegen::broken_rule(spec, h200()) == nullptr);
    return predict(spec, spec.strategy->estimated_registers(spec), p, h200()).total_us;
  };
  constexpr std::string_view k8x8 = "tile_m=128 tile_n=128 tile_k=8 thread_m=8 thread_n=8";
  const double naive = time("naive", "tile_m=32 tile_n=32");
  const double smem = time("smem_tile", "tile_m=32 tile_n=32 tile_k=32");
  const double column = time("thread_tile_1d", "tile_m=64 tile_n=64 tile_k=8 thread_m=8");
  const double patch = time("thread_tile_2d", k8x8);
  const double cached = time("register_cache", k8x8);
  const double vectors = time("vectorized", std::string(k8x8) + " vector=4");
  const double warps = time("warp_tile",
                            "tile_m=128 tile_n=128 tile_k=16 warp_m=64 warp_n=64 thread_m=8 "
                            "thread_n=16 iterations_m=1 iterations_n=4");
  const double best = predict(good_spec(), 128, p, h200()).total_us;
  CHECK(smem < naive);
  CHECK(column < smem);
  CHECK(patch < column);
  CHECK(cached <= patch);
  CHECK(vectors <= cached);
  CHECK(warps <= vectors);
  CHECK(best < warps);
  // The slowest is within an order of magnitude of the fastest, as on every published ladder.
  CHECK(naive < 12 * best);
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
  codegen::KernelSpec ahead = good;
  ahead.tile.ahead = 1;
  CHECK(time(ahead) < time(good));
  codegen::KernelSpec small = good;
  small.tile.thread_m = small.tile.thread_n = 4;
  small.tile.warp_m = 32;
  small.tile.warp_n = 16;
  CHECK(time(small) > time(good));
  codegen::KernelSpec scalar = good;
  scalar.traits = {true, true, 1, 1, 1, {}};
  CHECK(time(scalar) > time(good));
}

// Blocks that wait out each load leave an SM to others, but are no faster beside them.
TEST_CASE("a batch of two is predicted to take as long as one at least") {
  struct Case {
    const char* strategy;
    const char* tile;
    const char* problem;
  };
  for (const Case& each :
       {Case{"smem_tile", "tile_m=16 tile_n=16 tile_k=32", "f32/f32/ieee/ttt/128x96x768"},
        Case{"register_cache", "tile_m=32 tile_n=128 tile_k=16 thread_m=8 thread_n=8",
             "f32/f32/ieee/nnt/16x4736x6064"},
        Case{"thread_tile_2d", "tile_m=64 tile_n=32 tile_k=8 thread_m=16 thread_n=4",
             "f32/f32/ieee/tnt/16x976x688"}}) {
    for (const Arch arch : known_archs()) {
      const DeviceSpec& device = representative_device(arch);
      Problem problem = *parse_key(each.problem);
      const auto spec = codegen::parse_spec(each.strategy, each.tile, problem, arch);
      REQUIRE(spec.has_value());
      const int registers = spec->strategy->estimated_registers(*spec);
      CAPTURE(kernel_name(*spec));
      CAPTURE(device.name);
      double before_us = 0;
      for (problem.batch = 1; problem.batch <= 64; problem.batch *= 2) {
        problem.stride_a = problem.stride_b = problem.stride_c = 0;
        pack(problem);
        const double us = predict(*spec, registers, problem, device).total_us;
        CHECK(us >= before_us);
        before_us = us;
      }
    }
  }
}

TEST_CASE("a kernel that does not fit has no finite time") {
  CHECK(std::isinf(predict(good_spec(), 300, make_problem({64, 64, 64}), h200()).total_us));
}

}  // namespace
}  // namespace gemmtune::tuner
