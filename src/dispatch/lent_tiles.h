#pragma once

#include <vector>

#include "core/problem.h"
#include "core/tile_config.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// The tiles that a kernel may have for a problem of other rows than it was tuned for: one that ends
// with C, where that is faster and C is not read, and its own. The next one is for where a kernel
// is not available. Empty for a kernel that this program does not know.
std::vector<TileConfig> tiles_for_rows(const StoredKernel& kernel, const Problem& problem,
                                       bool reads_c);

// Of these, those that take little longer for such rows than for tiles full.
struct FastTiles {
  std::vector<TileConfig> tiles;
  double longer = 1;  // how many times as long the first of them may take
};
FastTiles fast_tiles_for_rows(const StoredKernel& kernel, const Problem& problem, bool reads_c);

}  // namespace gemmtune::dispatch
