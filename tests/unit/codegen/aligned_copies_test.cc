#include <doctest/doctest.h>

#include <string_view>

#include "codegen/strategy.h"

#include "parts/shared/aligned_lines.h"

// What the strategies launch that copy operands which 16 bytes do not divide.

namespace gemmtune::codegen {
namespace {

constexpr Arch kCopiesArch = {9, 0, false};
constexpr auto kCopiesTile = "tile_m=128 tile_n=128 tile_k=64 stages=4 consumers=2";

LaunchPlan plan_with_copies(const Problem& problem) {
  const KernelSpec spec =
      spec_for(**find_strategy("wgmma_misaligned"), *parse_tile(kCopiesTile), problem, kCopiesArch);
  return spec.strategy->launch_plan(spec, problem);
}

Problem odd_problem(const Shape& shape, std::string_view layout, DataType type = DataType::bf16) {
  return make_problem(shape, type, *parse_layout(layout));
}

// Blocks that copy `pieces` pieces of lines.
int64_t copying_blocks(int64_t pieces) {
  return (pieces + kCopyPiecesOfBlock - 1) / kCopyPiecesOfBlock;
}

TEST_CASE("every piece of every line that is copied has threads") {
  static_assert(kCopyPiece == 256);
  // Lines of 588 elements take 640, so three pieces.
  const LaunchPlan both = plan_with_copies(odd_problem({1023, 4097, 588}, "tnt"));
  REQUIRE(both.launches.size() == 2);
  CHECK(both.launches[0].config.grid.x == copying_blocks((1023 + 4097) * 3));
  CHECK(both.launches[0].grid_formula ==
        "ceil((entries_a * m * ceil(ld_a / 256) + entries_b * n * ceil(ld_b / 256)) / 16)");
  CHECK(both.workspace_bytes == (1023 + 4097) * 640 * 2);
  // B's lines of 4097 lie along n.
  CHECK(plan_with_copies(odd_problem({1023, 4097, 588}, "ttt")).launches[0].config.grid.x ==
        copying_blocks(1023 * 3 + 588 * 17));
  // Only B: A's lines of 64 are aligned.
  const LaunchPlan one = plan_with_copies(odd_problem({512, 33, 64}, "ttt"));
  CHECK(one.launches[0].config.grid.x == copying_blocks(64));
  CHECK(one.launches[0].grid_formula == "ceil(entries_b * k * ceil(ld_b / 256) / 16)");
}

TEST_CASE("a B that all products of a batch share is copied once") {
  Problem problem = odd_problem({100, 90, 77}, "tnt");
  problem.batch = 3;
  problem.stride_a = 100 * 77;
  problem.stride_c = 100 * 90;
  CHECK(plan_with_copies(problem).launches[0].config.grid.x == copying_blocks(3 * 100 + 90));
}

TEST_CASE("two elements of 8 bits count as one of 16") {
  const LaunchPlan plan = plan_with_copies(odd_problem({40, 50, 1001}, "tnt", DataType::e4m3));
  CHECK(plan.launches[0].config.grid.x == copying_blocks((40 + 50) * 2));
  CHECK(plan.launches[0].grid_formula ==
        "ceil((entries_a * m * ceil(ld_a / 512) + entries_b * n * ceil(ld_b / 512)) / 16)");
}

}  // namespace
}  // namespace gemmtune::codegen
