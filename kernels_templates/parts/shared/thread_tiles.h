#pragma once

#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/whole_numbers.h"

// Block, warp and thread tiles, and the shared-memory tiles of the fp32 kernels.

namespace gemmtune {

// Warps, and threads, that share a block tile made of warp tiles; 0 where there are none.
GEMMTUNE_HOST_DEVICE constexpr int warp_tiles(const TileConfig& tile) {
  if (tile.warp_m <= 0 || tile.warp_n <= 0) return 0;
  return tile.tile_m / tile.warp_m * (tile.tile_n / tile.warp_n);
}
GEMMTUNE_HOST_DEVICE constexpr int warp_tile_threads(const TileConfig& tile) {
  return 32 * warp_tiles(tile);
}

// Where thread tiles make up the block tile directly (block_thread_tile.cuh): a side of one, for
// which an unused thread_m or thread_n, 0, counts as 1, and their number.
GEMMTUNE_HOST_DEVICE constexpr int thread_side(int thread_mn) {
  return thread_mn > 0 ? thread_mn : 1;
}
GEMMTUNE_HOST_DEVICE constexpr int block_tile_threads(const TileConfig& tile) {
  return tile.tile_m / thread_side(tile.thread_m) * (tile.tile_n / thread_side(tile.thread_n));
}

// Elements that one access moves where the alignment allows `aligned` of them.
GEMMTUNE_HOST_DEVICE constexpr int access_width(const TileConfig& tile, int aligned) {
  return tile.vector > 0 && tile.vector < aligned ? tile.vector : aligned;
}
// The same of cp.async: what is transposed goes word by word.
GEMMTUNE_HOST_DEVICE constexpr int async_access_width(bool contiguous_k, int aligned) {
  return contiguous_k ? 1 : aligned;
}

// Floats of a row of a shared tile [tile_k][tile_mn]. An operand that is contiguous along k is
// transposed on its way there; padding spreads the stores of that over the banks.
GEMMTUNE_HOST_DEVICE constexpr int tile_row_floats(int tile_mn, bool contiguous_k) {
  constexpr int kPadding = 4;
  return tile_mn + (contiguous_k ? kPadding : 0);
}
GEMMTUNE_HOST_DEVICE constexpr int row_floats_a(const TileConfig& tile,
                                                const KernelTraits& traits) {
  return tile_row_floats(tile.tile_m, traits.a_row_major);
}
GEMMTUNE_HOST_DEVICE constexpr int row_floats_b(const TileConfig& tile,
                                                const KernelTraits& traits) {
  return tile_row_floats(tile.tile_n, !traits.b_row_major);
}

// Floats of a shared-memory buffer: a tile of A and one of B. The second form is of tiles without
// padding.
GEMMTUNE_HOST_DEVICE constexpr int buffer_floats(const TileConfig& tile,
                                                 const KernelTraits& traits) {
  return tile.tile_k * (row_floats_a(tile, traits) + row_floats_b(tile, traits));
}
GEMMTUNE_HOST_DEVICE constexpr int buffer_floats(const TileConfig& tile) {
  return tile.tile_k * (tile.tile_m + tile.tile_n);
}

// Whether `threads` threads share out a tile evenly, in accesses of `width` elements along the
// operand's contiguous side.
GEMMTUNE_HOST_DEVICE constexpr bool copied_evenly(int threads, int tile_mn, int tile_k,
                                                  bool contiguous_k, int width) {
  return (contiguous_k ? tile_k : tile_mn) % width == 0 &&
         divides(threads, tile_mn * tile_k / width);
}

}  // namespace gemmtune
