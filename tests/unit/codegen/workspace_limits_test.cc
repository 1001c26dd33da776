#include <doctest/doctest.h>

#include <string_view>

#include "codegen/strategy.h"
#include "codegen/workspace_limits.h"

namespace gemmtune::codegen {
namespace {

constexpr Arch kSearched = {9, 0, false};

// Whether a search tries the tile; then it has the workspace, too.
bool is_tried(std::string_view strategy, std::string_view tile, const Problem& problem) {
  const KernelSpec spec =
      spec_for(**find_strategy(strategy), *parse_tile(tile), problem, kSearched);
  REQUIRE(broken_rule(spec, representative_device(kSearched)) == nullptr);
  const bool tried = spec.strategy->worthwhile(spec, problem);
  const int64_t bytes = spec.strategy->launch_plan(spec, problem).workspace_bytes;
  if (tried) CHECK(bytes <= candidate_workspace_bytes(problem, kSearched));
  return tried;
}

TEST_CASE("candidates of tf32 that copy operands have the workspace for it") {
  const auto tried = [](std::string_view strategy, std::string_view tile, const Shape& shape) {
    Problem problem = make_problem(shape, DataType::f32, *parse_layout("ntt"));
    problem.math = MathMode::tf32;
    return is_tried(strategy, tile, problem);
  };
  constexpr auto kCopies = "tile_m=192 tile_n=128 tile_k=32 stages=5 consumers=3";
  CHECK(tried("wgmma_k_major", kCopies, {768, 3072, 1024}));
  CHECK(tried("wgmma_k_major", kCopies, {3072, 1024, 16448}));
  CHECK(tried("wgmma_k_major", kCopies, {3072, 1024, 25216}));
  CHECK_FALSE(tried("wgmma_k_major", kCopies, {3072, 1024, 50176}));
  constexpr auto kLoadsB = "tile_m=256 tile_n=128 tile_k=32 stages=4 consumers=2";  // and copies A
  CHECK(tried("wgmma_direct_tf32", kLoadsB, {3072, 1024, 25216}));
}

}  // namespace
}  // namespace gemmtune::codegen
