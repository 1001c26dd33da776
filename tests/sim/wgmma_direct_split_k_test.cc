#include <cstdint>
#include <string_view>

#include "direct_tf32_cases.h"
#include "parts/shared/direct_block.h"
#include "parts/shared/partial_tiles.h"
#include "sim_kernel.h"

// What wgmma_direct_split_k adds to wgmma_direct_tf32: slices of k, whose sums meet behind the copy
// in the workspace.

namespace gemmtune::tuner {
namespace {

// One consumer and more; clusters. Of two operands that need it, threads load A with the first and
// B with the second.
constexpr TilesOfCases kWaysOfA = {
    "tile_m=64 tile_n=64 tile_k=32 stages=3 consumers=1 slices=3",
    "tile_m=128 tile_n=136 tile_k=32 stages=2 consumers=2 slices=2",
    "tile_m=128 tile_n=192 tile_k=32 stages=3 consumers=2 cluster_m=2 slices=5"};
constexpr TilesOfCases kWaysOfB = {
    "tile_m=64 tile_n=32 tile_k=32 stages=3 consumers=1 slices=2",
    "tile_m=192 tile_n=96 tile_k=32 stages=4 consumers=3 slices=4",
    "tile_m=256 tile_n=96 tile_k=32 stages=3 consumers=2 cluster_n=2 slices=3"};

codegen::KernelSpec direct(std::string_view tile, const KernelTraits& traits) {
  return direct_tf32_kernel("wgmma_direct_split_k", tile, traits);
}

TEST_CASE("wgmma_direct_split_k: every layout, and operands of any alignment") {
  check_layouts_and_alignments(direct, kWaysOfA, kWaysOfB);
}

TEST_CASE("wgmma_direct_split_k: biases and activations") {
  check_biases_and_activations(direct, kWaysOfB);
}

// Of a k with slices that are empty, of one stage, with a part of a tile at the end, and of stages
// for both warpgroups that fill them; over tiles of C, which clusters stick out of, and entries.
TEST_CASE("wgmma_direct_split_k: any length of slices, and batches") {
  const auto check = [](std::string_view tile, const char* layout, const Shape& shape,
                        int64_t batch) {
    Problem problem = tf32_problem(shape, layout);
    problem.batch = batch;
    if (batch > 1) {
      problem.stride_a = shape.m * shape.k + 3;
      problem.stride_b = 0;
      problem.stride_c = shape.m * shape.n;
    }
    check_product(direct(tile, codegen::traits_for(problem)), problem, Fill::random, 0.5F, kSm90a);
  };
  for (const int64_t k : {1, 31, 33, 64, 65, 97, 129, 161, 257, 385}) {
    check(kWaysOfA[0], "ntt", {133, 68, k}, 1);
    check(kWaysOfB[0], "ttt", {132, 35, k}, 1);
  }
  check(kWaysOfA[2], "ntt", {389, 200, 321}, 3);
  check(kWaysOfB[2], "ntt", {300, 100, 200}, 2);
  check(kWaysOfB[1], "ttt", {200, 130, 72}, 3);
}

TEST_CASE("wgmma_direct_split_k: slots lie behind the copy, and a second kernel adds them up") {
  const Problem weights = tf32_problem({1024, 768, 16384}, "ntt");
  constexpr auto kTile = "tile_m=128 tile_n=192 tile_k=32 stages=4 consumers=2 slices=4";
  const auto spec = direct(kTile, codegen::traits_for(weights));
  const auto plan = spec.strategy->launch_plan(spec, weights);
  CHECK(plan.workspace_bytes == int64_t{4} * 768 * 16384 + int64_t{4} * 4 * 1024 * 768);
  CHECK(plan.launches.size() == 3);
  const Problem activations = tf32_problem({4096, 768, 3072}, "ttt");
  const auto plain = direct(kTile, codegen::traits_for(activations));
  CHECK(plain.strategy->launch_plan(plain, activations).workspace_bytes ==
        int64_t{4} * 4 * 4096 * 768);
  CHECK(plain.strategy->launch_plan(plain, activations).launches.size() == 2);
}

TEST_CASE("wgmma_direct_split_k spills nothing and waits for kernels before it") {
  for (const char* tile :
       {"tile_m=128 tile_n=192 tile_k=32 stages=4 consumers=2 cluster_m=2 slices=4",
        "tile_m=256 tile_n=128 tile_k=32 stages=4 consumers=2 slices=8"}) {
    const auto spec = direct(tile, {false, true, 4, 4, 4});
    check_spills_nothing(spec, kSm90a);
    check_waits(spec, kSm90a);
  }
}

TEST_CASE("wgmma_direct_split_k: planted faults are found") {
  constexpr Mutant kFaults[] = {
      {"at.column < args.n ? args.m - at.row : 0", "args.m"},
      {"tile * kSlices + slice", "tile * kSlices"},
      {"slice / kSlices", "slice"},
      {"out.workspace = workspace;", ""},
      {"sums.clear();\n    } else", "} else"},
  };
  const auto spec = direct(kWaysOfB[2], {false, true, 4, 1, 1});
  for (const Mutant& mutant : kFaults) {
    CAPTURE(mutant.what);
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  }
}

}  // namespace
}  // namespace gemmtune::tuner
