#pragma once

#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/whole_numbers.h"

// Tiles of the tensor-core kernels in shared memory: a tile of A or B lies in its operand's own
// storage order, in lines along k or along m or n.

namespace gemmtune {

inline constexpr int kFragmentSide = 16;         // rows or columns that one ldmatrix reads
inline constexpr int kMmaStepBytes = 32;         // k of one mma, along a line
inline constexpr int kChunkBytes = 16;           // what shared memory is swizzled by
inline constexpr int kBankLineBytes = 128;       // all banks once
inline constexpr int kMmaBufferAlignment = 128;  // what tiles of the buffers begin at multiples of

// mmas along k in a step of the main loop.
GEMMTUNE_HOST_DEVICE constexpr int mmas_of_step(const TileConfig& tile) {
  return tile.promotion > 1 ? tile.promotion : 1;
}

// Of a pipeline's buffer, and of its tile of A alone.
GEMMTUNE_HOST_DEVICE constexpr int mma_tile_bytes_a(const TileConfig& tile, int element_bytes) {
  return tile.tile_m * tile.tile_k * element_bytes;
}
GEMMTUNE_HOST_DEVICE constexpr int mma_buffer_bytes(const TileConfig& tile, int element_bytes) {
  return buffer_floats(tile) * element_bytes;
}

// Chunks of a line that change places within groups of this many (swizzled_rows.cuh).
GEMMTUNE_HOST_DEVICE constexpr int swizzle_period(int line_chunks) {
  return power_of_two_in(line_chunks, kBankLineBytes / kChunkBytes);
}

// How a group of threads shares out the accesses to a tile of `lines` lines: so many threads side
// by side along a line, each `columns` times, and so many lines at once.
struct LineCopies {
  int lines;
  int line_accesses;
  int across;
  int lines_at_once;
  int columns;

  GEMMTUNE_HOST_DEVICE constexpr LineCopies(int threads, int tile_lines, int accesses)
      : lines(tile_lines),
        line_accesses(accesses),
        across(power_of_two_in(accesses, power_of_two_in(threads, 1 << 10))),
        lines_at_once(threads / across),
        columns(accesses / across) {}

  // Whether each thread makes the same number, `access_chunks` being an access's part of a chunk:
  // several columns are whole groups of `period` chunks, so that they keep their distance.
  GEMMTUNE_HOST_DEVICE constexpr bool even(int threads, int access, int chunk, int period) const {
    return threads % across == 0 && lines_at_once > 0 && lines % lines_at_once == 0 &&
           (columns == 1 || across * access % (chunk * period) == 0);
  }
};

// Elements of one access of a copy: two where an operand of 16 bits allows single ones only.
GEMMTUNE_HOST_DEVICE constexpr int copied_elements_at_once(int vector, int element_bytes) {
  return vector * element_bytes >= 4 ? vector : 4 / element_bytes;
}

// Offsets that a thread keeps to read its warp's fragments, `fragments` of them along the tile, of
// a tile of `steps` steps. In lines of 2^n bytes that begin at multiples of that, a step is some
// bits of the address, which the swizzle changes no further: one offset serves all steps.
GEMMTUNE_HOST_DEVICE constexpr bool steps_are_bits(int line_bytes) {
  return divides(line_bytes, kMmaBufferAlignment);
}
GEMMTUNE_HOST_DEVICE constexpr int fragment_offsets(bool contiguous_k, int line_bytes, int steps,
                                                    int fragments) {
  if (!contiguous_k) return fragments;
  return steps_are_bits(line_bytes) ? 1 : steps;
}

// The slab of shared memory that 16 rows of a warp's sums pass through on their way to C: sums of a
// row, padded so that the pairs which 16 lanes store at a time lie in different banks, and of all.
GEMMTUNE_HOST_DEVICE constexpr int slab_row_sums(int warp_n) {
  constexpr int kPadding = 8;
  return warp_n + kPadding;
}
GEMMTUNE_HOST_DEVICE constexpr int slab_sums(int warp_n) {
  return kFragmentSide * slab_row_sums(warp_n);
}

// wmma: bytes of a line of 16-bit elements in shared memory with its padding (padded_rows.cuh).
GEMMTUNE_HOST_DEVICE constexpr int padded_line_bytes(int line) {
  return line * 2 + kChunkBytes;
}
GEMMTUNE_HOST_DEVICE constexpr int wmma_tile_bytes(int tile_mn, int tile_k, bool contiguous_k) {
  return contiguous_k ? tile_mn * padded_line_bytes(tile_k) : tile_k * padded_line_bytes(tile_mn);
}

// Elements that an access moves where the alignment allows `aligned`: fewer where threads would go
// without one.
GEMMTUNE_HOST_DEVICE constexpr int shared_out_vector(int elements, int threads, int aligned) {
  while (aligned > 2 && elements / aligned < threads) aligned /= 2;
  return aligned;
}

}  // namespace gemmtune
