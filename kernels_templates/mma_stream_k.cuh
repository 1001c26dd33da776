#pragma once

#include "mma_multistage.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/stream_k_ranges.h"

// mma_stream_k: mma_multistage with even shares of all multiplications instead of even tiles, for
// problems whose last wave of blocks would leave much of the card idle ("stream-K", Osama, Merrill,
// Cecka, Garland and Owens, PPoPP 2023).
//
// The first kTile.sharing_blocks blocks share out the k tiles of some tiles of C
// (stream_k_ranges.h); each other block computes a tile. A multiple of the blocks that the card
// runs at a time is best:
//
//     5 tiles, 4 SMs, one wave and a rest      4 sharing blocks
//     SM 0   | tile 0 | tile 4 |               | tile 0 | 1 |
//     SM 1   | tile 1 |                        | 1   | 2    |
//     SM 2   | tile 2 |                        | 2  | 3     |
//     SM 3   | tile 3 |                        | 3 | tile 4 |
//
// A block goes through its range tile by tile. A tile that is whole in it goes to C; the sums of
// part of one go to a slot of the workspace, as f32. The second kernel, finish(), adds up the slots
// of each such tile in the order of k, so that results do not vary. No block waits for another one.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaStreamK {
  using Whole = MmaMultistage<kTile, kTraits, kTypes>;
  using Mainloop = typename Whole::Mainloop;
  using Partial = PartialTile<kTile, kMmaPartialPadding, typename Mainloop::Rows>;
  using Slots = SlotSum<kTile, kTraits, kTypes, Partial>;

  static constexpr int kThreads = Whole::kThreads;
  static constexpr int kSmemBytes = Whole::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    const StreamKRanges ranges = stream_k_ranges(kTile, args);
    const int block = static_cast<int>(blockIdx.x);
    int tile = ranges.split_tiles + block - ranges.first_whole();
    int first = 0;  // k tile of the tile
    int left = ranges.tiles_k;
    if (block < ranges.first_whole()) {
      const int begin = ranges.begin(block);
      tile = begin / ranges.tiles_k;
      first = begin - tile * ranges.tiles_k;
      left = ranges.begin(block + 1) - begin;
    }
    for (int slot = 2 * block; left > 0; ++tile, slot = 2 * block + 1) {
      const int count = min(left, ranges.tiles_k - first);
      multiply(args, tile, first, count, count < ranges.tiles_k ? slot : kWholeTile);
      first = 0;
      left -= count;
      __syncthreads();  // nobody stores results through shared memory any more
    }
  }

  static constexpr int kSlotsAtOnce = 4;
  static constexpr int kFinishThreads = Slots::kThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) {
    const StreamKRanges ranges = stream_k_ranges(kTile, args);
    const int ways = ranges.ways();
    const int subtiles = finish_blocks_of_tile(Slots::kSlotFloats, Slots::kVector, ways);
    const int tile = static_cast<int>(blockIdx.x) / subtiles;
    const int first = ranges.block_of(tile * ranges.tiles_k);
    const int last = ranges.block_of((tile + 1) * ranges.tiles_k - 1);
    if (first == last) return;  // it was whole
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, tile, args.raster);
    Slots::template run<kSlotsAtOnce>(args, at, static_cast<int>(blockIdx.x) - tile * subtiles,
                                      ways, last - first + 1,
                                      [&](int i) { return ranges.slot(first + i, tile); });
  }

 private:
  static constexpr int kWholeTile = -1;

  // Multiplies `count` k tiles of a tile of C from k tile `first` on; the sums go to a slot of the
  // workspace, or to C.
  static __device__ __forceinline__ void multiply(const GemmArgs& args, int tile, int first,
                                                  int count, int slot) {
    extern __shared__ __align__(kMmaBufferAlignment) unsigned char smem[];
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, tile, args.raster);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    const int k_begin = first * kTile.tile_k;
    const int k_end = min(k_begin + count * kTile.tile_k, args.k);
    typename Mainloop::Sums sums;
    Mainloop::run(sums, shared_address(smem), args, at.batch, row, column, k_begin, k_end);
    if (slot == kWholeTile) {
      Whole::store(sums, smem, args, at.batch, row, column);
    } else {
      store_partial_tile<Mainloop, kTile.tile_n>(sums, Slots::slot(args, slot), args.m - row);
    }
  }
};

}  // namespace gemmtune
