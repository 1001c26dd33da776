#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/search/search.h"
#include "vendor/algorithm_names.h"

namespace gemmtune::tuner {

// A tile of the space with this index.
struct LikeVendor {
  size_t space;
  TileConfig tile;
};

// The legal tiles that are as large as the vendor's and split k into as many slices, in as large a
// cluster where that is legal: the cheapest of each number of consumers, schedule and side that is
// exchanged, `most` at most, cheapest first. Only of strategies that share a tile out to consumers,
// as cuBLASLt's kernels for Hopper do.
std::vector<LikeVendor> tiles_like(std::span<const Search::Space> spaces,
                                   const vendor::AlgorithmTile& vendor, size_t most);

}  // namespace gemmtune::tuner
