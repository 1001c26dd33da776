#include <doctest/doctest.h>

#include <string_view>
#include <variant>

#include "codegen/strategy.h"
#include "codegen/workspace_limits.h"

// What the strategies launch that split f32 operands into planes, and where the planes lie.

namespace gemmtune::codegen {
namespace {

constexpr Arch kHopper = {9, 0, false};

Problem problem_of(const Shape& shape, MathMode math, std::string_view layout = "ttt") {
  Problem problem = make_problem(shape, DataType::f32, *parse_layout(layout));
  problem.math = math;
  return problem;
}

KernelSpec spec_of(std::string_view strategy, std::string_view tile, const Problem& problem) {
  const KernelSpec spec = spec_for(**find_strategy(strategy), *parse_tile(tile), problem, kHopper);
  const Rule* broken = broken_rule(spec, representative_device(kHopper));
  REQUIRE_MESSAGE(broken == nullptr, broken->name);
  return spec;
}

constexpr auto kTile =
    "tile_m=128 tile_n=128 tile_k=64 stages=3 consumers=2 promotion=4 persistent_blocks=8";
constexpr auto kTf32Tile =
    "tile_m=128 tile_n=128 tile_k=32 stages=3 consumers=2 promotion=4 persistent_blocks=8";

const TensorMapArgument& map_at(const LaunchPlan& plan, size_t argument) {
  return std::get<TensorMapArgument>(plan.launches.at(1).arguments.at(argument));
}

Problem two_with_one_b(Problem problem) {
  problem.batch = 2;
  problem.stride_a = problem.shape.m * problem.shape.k;
  problem.stride_c = problem.shape.m * problem.shape.n;
  return problem;
}

TEST_CASE("bf16 planes: launches, workspace and maps") {
  const Problem problem = two_with_one_b(problem_of({1000, 520, 136}, MathMode::bf16x6));
  const KernelSpec spec = spec_of("wgmma_planes", kTile, problem);
  const LaunchPlan plan = spec.strategy->launch_plan(spec, problem);
  // Lines of 136 and 520 elements take 192 and 576.
  constexpr int64_t kOfA = 1000 * 192;
  constexpr int64_t kOfB = 136 * 576;
  REQUIRE(plan.launches.size() == 2);
  CHECK(plan.launches[0].entry == 1);
  CHECK(plan.launches[0].config.grid.x == (2 * kOfA + kOfB + 2047) / 2048);
  CHECK(plan.workspace_bytes == 6 * (2 * kOfA + kOfB));
  CHECK(plan.workspace_formula == "6 * (entries_a * plane_a + entries_b * plane_b)");
  CHECK_FALSE(plan.writes_c_early);
  CHECK(spec.strategy->work(spec, problem).reduction_bytes == 10 * (2 * kOfA + kOfB));
  CHECK(spec.strategy->work(spec, problem).launches == 2);
  CHECK(map_at(plan, 1).config.extent[2] == 6);
  CHECK(map_at(plan, 2).config.extent[2] == 3);
  CHECK(map_at(plan, 2).offset_bytes == 6 * 2 * kOfA);
  CHECK(map_at(plan, 1).config.stride_bytes[1] == 2 * kOfA);
}

TEST_CASE("tf32 planes: launches, workspace and maps") {
  const Problem problem = two_with_one_b(problem_of({1000, 520, 136}, MathMode::tf32x3, "ntt"));
  const KernelSpec spec = spec_of("wgmma_tf32_planes", kTf32Tile, problem);
  const LaunchPlan plan = spec.strategy->launch_plan(spec, problem);
  // k of 136 takes 160; eight and five tiles of 128 lines, five of 32 along k.
  constexpr int64_t kOfA = 1000 * 160;
  constexpr int64_t kOfB = 520 * 160;
  REQUIRE(plan.launches.size() == 2);
  CHECK(plan.launches[0].entry == 1);
  CHECK(plan.launches[0].config.grid.x == 2 * 8 * 5 + 5 * 5);
  CHECK(plan.workspace_bytes == 8 * (2 * kOfA + kOfB));
  CHECK(plan.workspace_formula == "8 * (entries_a * plane_a + entries_b * plane_b)");
  CHECK(spec.strategy->work(spec, problem).reduction_bytes == 12 * (2 * kOfA + kOfB));
  CHECK(spec.strategy->work(spec, problem).launches == 2);
  for (const size_t argument : {size_t{1}, size_t{2}}) {
    const TensorMapConfig& map = map_at(plan, argument).config;
    CHECK(map.type == DataType::f32);
    CHECK_FALSE(map.rounds_to_tf32);
    CHECK(map.extent[0] == 136);
    CHECK(map.stride_bytes[0] == 160 * 4);
  }
  CHECK(map_at(plan, 1).config.extent[2] == 4);
  CHECK(map_at(plan, 2).config.extent[2] == 2);
  CHECK(map_at(plan, 2).offset_bytes == 8 * 2 * kOfA);
}

TEST_CASE("planes: sums are promoted, of tiles that leave the registers for it") {
  const auto broken = [](std::string_view tile) -> std::string_view {
    const KernelSpec spec = spec_for(**find_strategy("wgmma_tf32_planes"), *parse_tile(tile),
                                     problem_of({512, 512, 512}, MathMode::tf32x3), kHopper);
    const Rule* rule = broken_rule(spec, representative_device(kHopper));
    return rule == nullptr ? std::string_view() : rule->name;
  };
  CHECK(broken("tile_m=128 tile_n=176 tile_k=32 stages=2 consumers=2 promotion=8") == "");
  CHECK(broken("tile_m=128 tile_n=176 tile_k=32 stages=2 consumers=2") ==
        "sums of at least one tile of k");
  CHECK(broken("tile_m=128 tile_n=192 tile_k=32 stages=2 consumers=2 promotion=8") ==
        "sums fit a consumer's registers");
  CHECK(broken("tile_m=128 tile_n=128 tile_k=16 stages=2 consumers=2 promotion=8") ==
        "tile_k of whole 128-byte lines");
}

// Of tf32 all four planes, each of which is loaded once for three products; of bf16 a plane each,
// for one product of six.
TEST_CASE("planes: what a stage holds, and what is loaded") {
  const Problem tf32 = problem_of({512, 512, 512}, MathMode::tf32x3);
  const Problem bf16 = problem_of({512, 512, 512}, MathMode::bf16x6);
  const auto three = spec_of("wgmma_tf32_planes", kTf32Tile, tf32);
  const auto two =
      spec_of("wgmma_tf32_planes",
              "tile_m=128 tile_n=128 tile_k=32 stages=2 consumers=2 promotion=4", tf32);
  const auto smem = [](const KernelSpec& spec) { return spec.strategy->smem_bytes(spec); };
  constexpr int kBarriers = 16;
  CHECK(smem(three) - smem(two) == 2 * (128 + 128) * 32 * 4 + kBarriers);
  const auto of_bf16 = spec_of("wgmma_planes", kTile, bf16);
  const double bytes = 1.0 / 128 + 1.0 / 128;  // of each multiply-add, of operands of one byte
  CHECK(three.strategy->loads(three).global == doctest::Approx(2 * 4 * bytes));
  CHECK(of_bf16.strategy->loads(of_bf16).global == doctest::Approx(6 * 2 * bytes));
}

TEST_CASE("where C is computed in parts of its rows, launches before the last one write it") {
  const auto writes_early = [](int64_t size) {
    const Problem problem = problem_of({size, size, size}, MathMode::tf32x3);
    const KernelSpec spec = spec_of("wgmma_tf32_planes", kTf32Tile, problem);
    return spec.strategy->launch_plan(spec, problem).writes_c_early;
  };
  CHECK_FALSE(writes_early(8192));
  CHECK(writes_early(8224));
}

TEST_CASE("planes that take too much of the workspace even for some rows are not tried") {
  const auto worthwhile = [](std::string_view strategy, MathMode math, int64_t size) {
    const Problem problem = problem_of({size, size, size}, math);
    const bool of_tf32 = math == MathMode::tf32x3;
    const KernelSpec spec = spec_of(strategy, of_tf32 ? kTf32Tile : kTile, problem);
    const int64_t bytes = spec.strategy->launch_plan(spec, problem).workspace_bytes;
    CHECK((bytes <= kMostPlanesBytes) == spec.strategy->worthwhile(spec, problem));
    return spec.strategy->worthwhile(spec, problem);
  };
  CHECK(worthwhile("wgmma_tf32_planes", MathMode::tf32x3, 8192));
  CHECK(worthwhile("wgmma_tf32_planes", MathMode::tf32x3, 8224));  // in two parts
  CHECK_FALSE(worthwhile("wgmma_tf32_planes", MathMode::tf32x3, 11600));
  CHECK(worthwhile("wgmma_planes", MathMode::bf16x6, 8224));
  CHECK_FALSE(worthwhile("wgmma_planes", MathMode::bf16x6, 16384));
}

TEST_CASE("planes: each strategy in its own math mode, within what its split counts") {
  const Strategy& tf32 = **find_strategy("wgmma_tf32_planes");
  for (const MathMode math : {MathMode::ieee, MathMode::tf32, MathMode::tf32x3, MathMode::f16,
                              MathMode::bf16x6, MathMode::bf16x9}) {
    CHECK(tf32.supports(problem_of({64, 64, 64}, math), kHopper).has_value() ==
          (math == MathMode::tf32x3));
  }
  CHECK_FALSE(tf32.supports(problem_of({64, 64, 64}, MathMode::tf32x3), {8, 0, false}));
  CHECK_FALSE(tf32.supports(problem_of({64, 64, 64}, MathMode::tf32x3), {10, 0, false}));
  const Problem too_large = problem_of({1 << 30, 64, 1 << 15}, MathMode::tf32x3);
  const auto refused = tf32.supports(too_large, kHopper);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message == "splits operands in at most 2^31 tiles");
}

}  // namespace
}  // namespace gemmtune::codegen
