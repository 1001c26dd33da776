#include "dispatch/lent_tiles.h"

#include "codegen/strategy.h"

namespace gemmtune::dispatch {
namespace {

// Whether a kernel takes longer for so many rows than for a tile full: of 46 that were lent rows,
// 12 were slower than cuBLASLt, all of them with more outside of A than this
// (docs/decisions/0025-tiles-that-end-with-c.md).
bool is_slow_outside(const codegen::Strategy& strategy, const TileConfig& tile,
                     const Problem& problem, bool reads_c) {
  constexpr int64_t kParts = 5;
  return kParts * strategy.slow_rows(tile, problem, reads_c) > tile.tile_m + tile.tile_n;
}

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

std::vector<TileConfig> fast_tiles_for_rows(const StoredKernel& kernel, const Problem& problem,
                                            bool reads_c) {
  std::vector<TileConfig> tiles = tiles_for_rows(kernel, problem, reads_c);
  if (tiles.empty()) return {};
  const codegen::Strategy& strategy = **codegen::find_strategy(kernel.strategy);
  std::erase_if(tiles, [&](const TileConfig& tile) {
    return is_slow_outside(strategy, tile, problem, reads_c);
  });
  return tiles;
}

}  // namespace gemmtune::dispatch
