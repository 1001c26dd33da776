#include "codegen/tile_grid.h"

#include <fmt/format.h>

namespace gemmtune::codegen {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

int64_t tile_blocks(const TileConfig& tile, const Problem& problem) {
  return ceil_div(problem.shape.m, tile.tile_m) * ceil_div(problem.shape.n, tile.tile_n) *
         problem.batch;
}

BlockCount tile_grid(const TileConfig& tile, const Problem& problem, int times) {
  std::string formula =
      fmt::format("ceil(m / {}) * ceil(n / {}) * batch", tile.tile_m, tile.tile_n);
  if (times > 1) formula += fmt::format(" * {}", times);
  return {tile_blocks(tile, problem) * times, std::move(formula)};
}

BlockCount element_grid(int64_t per_block, const Problem& problem) {
  const int64_t elements = problem.shape.m * problem.shape.n * problem.batch;
  return {ceil_div(elements, per_block), fmt::format("ceil(m * n * batch / {})", per_block)};
}

}  // namespace gemmtune::codegen
