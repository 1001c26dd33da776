#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/tile_config.h"

// Who computes what in a stream-K product (mma_stream_k.cuh).

namespace gemmtune {

// The tiles of C, `tiles_k` k tiles each, in raster order: the k tiles of the first `split_tiles`
// of them are one line that `blocks` blocks take equal ranges of; each of the others has a block of
// its own.
//
//     split_tiles = 3, blocks = 4:    tile 0      |  tile 1      |  tile 2      |  tile 3  |  tile
//     4 ...
//                                0    0    0 | 1    1    1  |  2    2    3 |     4    |     5
//
// (k tiles by the block that multiplies them, where a tile has 8: blocks 0 to 3 have 6 each.)
struct StreamKRanges {
  int tiles = 0;
  int tiles_k = 0;
  int blocks = 0;
  int split_tiles = 0;

  // Of the first launch.
  GEMMTUNE_HOST_DEVICE constexpr int grid() const { return tiles - split_tiles + first_whole(); }
  // The first block with a tile of its own.
  GEMMTUNE_HOST_DEVICE constexpr int first_whole() const { return split_tiles > 0 ? blocks : 0; }

  // The line of shared k tiles: its length, where block `b`'s range begins (that of block `blocks`
  // is the end), and whose range k tile `i` is in. The first ranges may be longer by one.
  GEMMTUNE_HOST_DEVICE constexpr int length() const { return split_tiles * tiles_k; }
  GEMMTUNE_HOST_DEVICE constexpr int begin(int b) const {
    const int longer = length() % blocks;
    return b * (length() / blocks) + (b < longer ? b : longer);
  }
  GEMMTUNE_HOST_DEVICE constexpr int block_of(int i) const {
    const int least = length() / blocks;
    const int longer = length() % blocks;
    const int of_longer = longer * (least + 1);
    return i < of_longer ? i / (least + 1) : longer + (i - of_longer) / least;
  }

  // A block's range ends within at most two tiles, at its beginning and at its end; every tile
  // between is whole. So a block has two slots of the workspace: one for the tile that it begins
  // in, and one for another.
  GEMMTUNE_HOST_DEVICE constexpr int slots() const { return split_tiles > 0 ? 2 * blocks : 0; }
  // The slot of block `b` for shared tile `tile`.
  GEMMTUNE_HOST_DEVICE constexpr int slot(int b, int tile) const {
    return 2 * b + (begin(b) < tile * tiles_k ? 1 : 0);
  }

  // Of the second launch, which adds up the slots of shared tiles: groups of warps that take them
  // in turn, and the grid for tiles of `floats` sums.
  GEMMTUNE_HOST_DEVICE constexpr int ways() const {
    const int least = length() / blocks;
    return finish_ways(least > 0 ? (tiles_k + least - 1) / least + 1 : tiles_k, kPartialVector);
  }
  GEMMTUNE_HOST_DEVICE constexpr int finish_grid(int floats) const {
    return split_tiles * finish_blocks_of_tile(floats, kPartialVector, ways());
  }
};

// All tiles are shared where there are fewer than tile.sharing_blocks blocks; else those that would
// be left for a last wave of blocks, and one whole wave, so that ranges are not short. None where
// the waves are whole, or tiles have one k tile. Source: the "two-tile stream-K + data-parallel
// hybrid" of Osama, Merrill, Cecka, Garland and Owens, "Stream-K", PPoPP 2023.
GEMMTUNE_HOST_DEVICE constexpr StreamKRanges stream_k_ranges(const TileConfig& tile,
                                                             const GemmArgs& args) {
  StreamKRanges ranges;
  ranges.tiles = (args.m + tile.tile_m - 1) / tile.tile_m *
                 ((args.n + tile.tile_n - 1) / tile.tile_n) * args.batch;
  ranges.tiles_k = (args.k + tile.tile_k - 1) / tile.tile_k;
  ranges.blocks = tile.sharing_blocks;
  const int left = ranges.tiles % tile.sharing_blocks;
  if (left > 0 && ranges.tiles_k > 1) {
    ranges.split_tiles = ranges.tiles < tile.sharing_blocks ? left : left + tile.sharing_blocks;
  }
  return ranges;
}

}  // namespace gemmtune
