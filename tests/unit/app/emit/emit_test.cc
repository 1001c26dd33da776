#include "app/emit/emit.h"

#include <doctest/doctest.h>

#include <string>

#include "../../contains.h"

namespace gemmtune::app {
namespace {

// Of a bf16 product of that layout, by a tile that is legal everywhere.
std::string emitted_source(const std::string& layout) {
  EmitOptions options;
  options.problem.shapes = {"1000x3000x512"};
  options.problem.type = "bf16";
  options.problem.layout = layout;
  options.problem.epilogue = "bias";
  options.arch = "sm_80";
  options.strategy = "mma_multistage";
  options.tile =
      "tile_m=128 tile_n=128 tile_k=32 warp_m=64 warp_n=64 stages=3 copy=1 order=1 fragments=2";
  const auto kernel = emit({}, options);
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().message);
  return kernel->content;
}

TEST_CASE("a source for a column-major C says that it computes the transpose") {
  const std::string swapped = emitted_source("ntn");
  CHECK(contains(swapped, "// Swapped: For a column-major C, this computes the transpose"));
  CHECK(contains(swapped, "A is m x k, bf16 column-major, B k x n, bf16 row-major,"));
  CHECK(contains(swapped, "args.bias has m elements"));
  const std::string plain = emitted_source("ntt");
  CHECK(!contains(plain, "Swapped"));
  CHECK(contains(plain, "A is m x k, bf16 column-major, B k x n, bf16 row-major,"));
  CHECK(contains(plain, "args.bias has n elements"));
}

}  // namespace
}  // namespace gemmtune::app
