#include "dispatch/lent_tiles.h"

#include "codegen/strategy.h"

namespace gemmtune::dispatch {
namespace {

// Of 46 kernels that were lent rows, 12 were slower than cuBLASLt, all of them with more than a
// fifth of a tile's rows and columns together outside of A. Up to a tenth costs nothing, in between
// it cost up to a tenth of the time (docs/decisions/0025-tiles-that-end-with-c.md).
constexpr int64_t kMostOutside = 5;
constexpr int64_t kOutsideForNothing = 10;
constexpr double kLongerOutside = 1.1;

}  // namespace

std::vector<TileConfig> tiles_for_rows(const StoredKernel& kernel, const Problem& problem,
                                       bool reads_c) {
  const auto strategy = codegen::find_strategy(kernel.strategy);
  const auto own = parse_tile(kernel.config);
  if (!strategy || !own || own->tile_m < 1) return {};
  std::vector<TileConfig> tiles;
  if (!reads_c) tiles.push_back((*strategy)->for_other_rows(*own, problem));
  if (tiles.empty() || tiles.front() != *own) tiles.push_back(*own);
  return tiles;
}

FastTiles fast_tiles_for_rows(const StoredKernel& kernel, const Problem& problem, bool reads_c) {
  FastTiles fast = {tiles_for_rows(kernel, problem, reads_c)};
  if (fast.tiles.empty()) return fast;
  const codegen::Strategy& strategy = **codegen::find_strategy(kernel.strategy);
  const auto has_more_outside = [&](int64_t parts, const TileConfig& tile) {
    return parts * strategy.slow_rows(tile, problem, reads_c) > tile.tile_m + tile.tile_n;
  };
  std::erase_if(fast.tiles,
                [&](const TileConfig& tile) { return has_more_outside(kMostOutside, tile); });
  if (!fast.tiles.empty() && has_more_outside(kOutsideForNothing, fast.tiles.front()))
    fast.longer = kLongerOutside;
  return fast;
}

}  // namespace gemmtune::dispatch
