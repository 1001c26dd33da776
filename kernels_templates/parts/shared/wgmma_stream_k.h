#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/stream_k_ranges.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Who computes what in wgmma_stream_k.cuh, and where sums of parts of k meet in its workspace.

namespace gemmtune {

// Of clusters in place of blocks, and of what a cluster computes in place of a block's tile.
struct WgmmaStreamKRanges : StreamKRanges {
  constexpr WgmmaStreamKRanges() = default;
  GEMMTUNE_HOST_DEVICE constexpr WgmmaStreamKRanges(const TileConfig& tile, const GemmArgs& args)
      : StreamKRanges(stream_k_ranges(of_clusters(tile), args)) {}

  // Clusters that have anything to do.
  GEMMTUNE_HOST_DEVICE constexpr int busy() const {
    const int most = split_tiles > 0 ? length() : tiles;
    return most < blocks ? most : blocks;
  }
  // Whose ranges may begin within a tile.
  GEMMTUNE_HOST_DEVICE constexpr int sharing() const { return split_tiles > 0 ? blocks : 0; }

 private:
  static GEMMTUNE_HOST_DEVICE constexpr TileConfig of_clusters(const TileConfig& tile) {
    TileConfig out = tile;
    out.tile_m *= at_least_one(tile.cluster_m);
    out.tile_n *= at_least_one(tile.cluster_n);
    out.sharing_blocks /= cluster_blocks(tile);
    return out;
  }
};

// A slot for each sharing block holds the sums of the tile in which its range begins; behind all
// slots is a word for each, which says that they are there.
struct WgmmaSumSlots {
  int floats;  // of a slot
  int slots;

  GEMMTUNE_HOST_DEVICE explicit constexpr WgmmaSumSlots(const TileConfig& tile)
      : floats(slot_floats(tile)), slots(tile.sharing_blocks) {}

  GEMMTUNE_HOST_DEVICE constexpr long long words_offset() const {
    return static_cast<long long>(slots) * floats * 4;
  }
  GEMMTUNE_HOST_DEVICE constexpr long long words_bytes() const {
    return static_cast<long long>(slots) * 8;
  }
  GEMMTUNE_HOST_DEVICE constexpr long long bytes() const { return words_offset() + words_bytes(); }
};

}  // namespace gemmtune
