#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/search/search.h"

namespace gemmtune::tuner {

// What cuBLASLt says of one of its kernels, for a row-major C.
struct VendorTile {
  int tile_m = 0;
  int tile_n = 0;
  int cluster_m = 1;  // blocks
  int cluster_n = 1;
  int slices = 1;  // of k

  bool operator==(const VendorTile&) const = default;
};

// Of "rank=3 algo=66 tile=144x64 stages=64xauto cluster=1x4x1 splitk=1 ...", whose first sizes are
// those of columns, since cuBLASLt computes a row-major C as its transpose. Nothing without a tile.
std::optional<VendorTile> vendor_tile(std::string_view config);

// A tile of the space with this index.
struct LikeVendor {
  size_t space;
  TileConfig tile;
};

// The legal tiles that are as large as the vendor's and split k into as many slices, in as large a
// cluster where that is legal: the cheapest of each number of consumers, schedule and side that is
// exchanged, `most` at most, cheapest first. Only of strategies that share a tile out to consumers,
// as cuBLASLt's kernels for Hopper do.
std::vector<LikeVendor> tiles_like(std::span<const Search::Space> spaces, const VendorTile& vendor,
                                   size_t most);

}  // namespace gemmtune::tuner
