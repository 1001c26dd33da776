#include <utility>

#include "sim_kernel.h"

// What is particular to wgmma_k_major: copies of the operands in any layout, transposed and moved,
// of any alignment, in one grid.

namespace gemmtune::tuner {
namespace {

constexpr auto kTile = "tile_m=64 tile_n=64 tile_k=32 stages=2 consumers=1";
constexpr auto kTaken =
    "tile_m=128 tile_n=48 tile_k=64 stages=3 consumers=2 cluster_m=2 persistent_blocks=2";

// Lines of f32 results of an odd number of units; those of a power of two meet in pairs.
constexpr auto kOddBoxes = "tile_m=64 tile_n=40 tile_k=32 stages=2 consumers=1";

codegen::KernelSpec k_major(const char* tile, const KernelTraits& traits) {
  return spec_of("wgmma_k_major", tile, traits, DataType::f32, DataType::f32, MathMode::tf32,
                 kSm90a);
}

TEST_CASE("wgmma_k_major: every layout, and operands of which nothing, a pair or all is aligned") {
  constexpr int kWidths[][2] = {{4, 4}, {1, 4}, {4, 2}, {2, 1}};
  size_t tile = 0;
  for (const bool a : {true, false}) {
    for (const bool b : {true, false}) {
      for (const auto& [width_a, width_b] : kWidths) {
        if (a && !b && width_a == 4 && width_b == 4) continue;  // as they are
        const KernelTraits traits{a, b, width_a, width_b, width_a};
        check_quick_cases(k_major(tile++ % 2 == 0 ? kTile : kTaken, traits), kSm90a);
      }
    }
  }
}

TEST_CASE("wgmma_k_major: with nothing to copy it is illegal") {
  const codegen::KernelSpec spec{*codegen::find_strategy("wgmma_k_major"),
                                 *parse_tile(kTile),
                                 {true, false, 4, 4, 4},
                                 DataType::f32,
                                 DataType::f32,
                                 MathMode::tf32};
  const codegen::Rule* rule = codegen::broken_rule(spec, representative_device(kSm90a));
  REQUIRE(rule != nullptr);
  CHECK(rule->reason == "without one there is nothing to copy");
}

// Tiles of copies that are full and not, of several entries; entries that share an operand.
TEST_CASE("wgmma_k_major: sizes around a copied tile, and batches") {
  const auto check = [](const char* layout, const Shape& shape, int64_t batch, bool shared_b) {
    Problem problem = make_problem(shape, DataType::f32, *parse_layout(layout));
    problem.math = MathMode::tf32;
    problem.batch = batch;
    if (batch > 1) {
      problem.stride_a = shape.m * shape.k;
      problem.stride_b = shared_b ? 0 : shape.k * shape.n;
      problem.stride_c = shape.m * shape.n;
    }
    check_product(k_major(kTile, codegen::traits_for(problem)), problem, Fill::random, 0.5F,
                  kSm90a);
  };
  check("ttt", {128, 128, 32}, 1, false);
  check("ttt", {129, 260, 36}, 1, false);
  check("ntt", {131, 127, 33}, 1, false);
  check("nnt", {256, 4, 100}, 3, false);
  check("ntt", {132, 68, 40}, 3, true);
  check("ttt", {1, 1, 1}, 2, false);
}

TEST_CASE("wgmma_k_major: copies without bank conflicts") {
  for (const char* layout : {"ttt", "nnt", "ntt"}) {
    Problem problem = make_problem({128, 128, 64}, DataType::f32, *parse_layout(layout));
    problem.math = MathMode::tf32;
    check_no_conflicts(k_major(kTile, codegen::traits_for(problem)), problem, kSm90a, 1);
    check_no_conflicts(k_major(kOddBoxes, codegen::traits_for(problem)), problem, kSm90a);
  }
}

constexpr Mutant kFaults[] = {
    {"at_k < k ? lines_left(at_line) : 0", "lines_left(at_line)"},
    {"lines_left(at_line) > 0 ? k - at_k : 0", "k - at_k"},
    {"      __syncthreads();\n      store_lines", "      store_lines"},
    {"if (lines_left(at_line) <= 0) return;", ""},
    {"workspace += a.elements();", ""},
    {"to += entry * (plane() * Stored::kPlanes);", ""},
    {"at % kKMajorVector * kLineChunks + at / kKMajorVector", "at"},
};

TEST_CASE("wgmma_k_major: planted faults are found") {
  for (const Mutant& mutant : kFaults) {
    CAPTURE(mutant.what);
    // One operand is moved, the other one transposed.
    const auto spec = k_major(kTile, {true, true, 1, 1, 1});
    CHECK(!verdict_of(load_mutant(spec, mutant, kSm90a), spec).correct());
  }
}

TEST_CASE("wgmma_k_major: both kernels wait for those before them") {
  check_waits(k_major(kTile, {true, true, 4, 4, 4}), kSm90a);
}

}  // namespace
}  // namespace gemmtune::tuner
