#pragma once

#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/whole_numbers.h"

// How a block is laid over a tile of C with few rows or few columns (gemv, skinny).
//
// The tile's smaller side is the *short* side, the other the *long* one; the operand that belongs
// to the long side is read once and makes up nearly all the traffic. tile_m <= tile_n: few rows of
// C, A is the short operand and B the long one; else few columns, and the other way round.
//
// Every warp of the block works on the whole tile, each on its own k. Within a warp lanes form a
// lanes_long x lanes_k grid; a thread computes short_side x thread_long results over its k, which
// are added up at the end. A *worker* is one k-lane of one warp; a chunk of k is tile.unroll values
// for each worker.
//
//     long operand contiguous along the long side      long operand contiguous along k
//
//     lane  0 1 2 3 ... (16 bytes each) -> long        lane  0 1 2 3 ... (16 bytes each) -> k
//     worker 0   k = 0 .. unroll-1                     long = 0, 1, .. thread_long-1, one row each
//     worker 1   k = unroll ..                         k = 4 * worker, then + 4 * workers
//
// Neighbouring lanes read neighbouring vectors either way, and each word is read by one thread
// only: the long operand does not pass through shared memory.

namespace gemmtune {

struct SkinnyShape {
  bool short_rows;   // else short columns
  int short_side;    // results of the tile along its smaller side
  int long_side;     // along the other
  int thread_short;  // results of a thread along each
  int thread_long;
  int lanes_long;  // of a warp; 0 if the tile is not made of whole thread tiles
  int lanes_k;
  int workers;
  int chunk;  // values of k that the block takes at a time
  bool long_contiguous_k;
  bool short_contiguous_k;
  int long_vector;   // elements of one access to the long operand
  int short_vector;  // that the alignment of the short operand allows

  GEMMTUNE_HOST_DEVICE constexpr SkinnyShape(const TileConfig& tile, const KernelTraits& traits)
      : short_rows(tile.tile_m <= tile.tile_n),
        short_side(short_rows ? tile.tile_m : tile.tile_n),
        long_side(short_rows ? tile.tile_n : tile.tile_m),
        thread_short(short_rows ? tile.thread_m : tile.thread_n),
        thread_long(short_rows ? tile.thread_n : tile.thread_m),
        lanes_long(divides(thread_long, long_side) ? long_side / thread_long : 0),
        lanes_k(lanes_long > 0 ? 32 / lanes_long : 0),
        workers(tile.warps * lanes_k),
        chunk(workers * tile.unroll),
        long_contiguous_k(short_rows ? !traits.b_row_major : traits.a_row_major),
        short_contiguous_k(short_rows ? traits.a_row_major : !traits.b_row_major),
        long_vector(short_rows ? traits.vector_b : traits.vector_a),
        short_vector(short_rows ? traits.vector_a : traits.vector_b) {
    const int limit = long_contiguous_k ? tile.unroll : thread_long;
    if (limit < long_vector) long_vector = limit;
  }
};

// Floats that a block's chunk of the long operand takes of a stage of the pipeline.
GEMMTUNE_HOST_DEVICE constexpr int long_stage_floats(const TileConfig& tile,
                                                     const SkinnyShape& shape) {
  return 32 * tile.warps * tile.unroll * shape.thread_long;
}
// The same of the short operand, where warps copy it; whole vectors of 4.
GEMMTUNE_HOST_DEVICE constexpr int short_stage_floats(const SkinnyShape& shape) {
  return (shape.short_side * shape.chunk + 3) / 4 * 4;
}

// Floats of the short operand's slab of tile_k values of k, where the block copies it: rows of k,
// padded, where the long operand is contiguous along k, else of the short side.
GEMMTUNE_HOST_DEVICE constexpr int slab_row_floats(const TileConfig& tile) {
  constexpr int kPadding = 4;
  return tile.tile_k + kPadding;
}
GEMMTUNE_HOST_DEVICE constexpr int slab_floats(const TileConfig& tile, const SkinnyShape& shape) {
  return shape.short_side * (shape.long_contiguous_k ? slab_row_floats(tile) : tile.tile_k);
}

// How many of a block's `warps` warps store their sums, `results` each, in shared memory at once,
// and what that takes: all of them where it is little, else their number is halved until it is.
GEMMTUNE_HOST_DEVICE constexpr int storing_warps(int warps, int results) {
  constexpr int kBytes = 32 << 10;
  while (warps > 1 && warps * results * 4 > kBytes) warps /= 2;
  return warps;
}
GEMMTUNE_HOST_DEVICE constexpr int warp_sums_bytes(int warps, int results) {
  return (storing_warps(warps, results) < warps ? warps / 2 : warps) * results * 4;
}

}  // namespace gemmtune
