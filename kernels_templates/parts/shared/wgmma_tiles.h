#pragma once

#include "parts/shared/block_scales.h"
#include "parts/shared/host_device.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/whole_numbers.h"

// Tiles of the wgmma kernels: who computes what, and how the shared memory of a block is laid out.
//
// wgmma multiplies 64 rows by up to 256 columns. Its rows lie along m and its columns along n, or,
// exchanged, its rows along n. The operand of the rows is A, or, exchanged, B.
//
//     shared memory: stages x (tile of the rows' operand, tile of the columns' operand),
//                    stages x scales of blocks of k, what results pass through, barriers

namespace gemmtune {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpsOfWarpgroup = 4;
inline constexpr int kWgmmaRows = 64;
inline constexpr int kMostWgmmaColumns = 256;
inline constexpr int kWgmmaStepBytes = 32;  // k of one wgmma, along a line
inline constexpr int kTmaLineBytes = 128;   // of a line in shared memory: the widest swizzle's span
inline constexpr int kHalfTmaLineBytes = kTmaLineBytes / 2;
inline constexpr int kMostHalfLines = 7;  // side by side: more are slower than longer lines
inline constexpr int kSwizzleLines = 8;   // after which a swizzle repeats
inline constexpr int kTmaTileAlignment = kSwizzleLines * kTmaLineBytes;
inline constexpr int kMostTmaBoxRows = 256;
inline constexpr int kBarrierBytes = 8;
// Shared memory on sm_90: of an SM, of that what is not its blocks', and most of a block.
inline constexpr int kSharedBytesOfSm = 228 * 1024;
inline constexpr int kReservedSharedBytes = 1024;  // of each block
inline constexpr int kMostWgmmaSharedBytes = kSharedBytesOfSm - kReservedSharedBytes;

GEMMTUNE_HOST_DEVICE constexpr int at_least_one(int x) {
  return x > 1 ? x : 1;
}

GEMMTUNE_HOST_DEVICE constexpr int wgmma_threads(const TileConfig& tile) {
  return (1 + tile.consumers) * kWarpgroupThreads;
}

// Of a block's tile, as wgmma sees it.
GEMMTUNE_HOST_DEVICE constexpr int wgmma_tile_rows(const TileConfig& tile) {
  return tile.exchange != 0 ? tile.tile_n : tile.tile_m;
}
GEMMTUNE_HOST_DEVICE constexpr int wgmma_tile_columns(const TileConfig& tile) {
  return tile.exchange != 0 ? tile.tile_m : tile.tile_n;
}

// Rows that a consumer computes.
GEMMTUNE_HOST_DEVICE constexpr int consumer_rows(const TileConfig& tile) {
  return wgmma_tile_rows(tile) / (tile.schedule == kPingPong ? 1 : at_least_one(tile.consumers));
}

// A tile that ends with C begins at a multiple of so many rows and columns: TMA can begin there,
// whatever is contiguous.
inline constexpr int kEdgeUnit = 8;
// Whether tiles with an edge end with C's rows, and with its columns. Blocks of lines that have a
// scale begin with tiles, or tiles with them.
GEMMTUNE_HOST_DEVICE constexpr bool edge_ends_rows(const TileConfig& tile, Scale scale) {
  return tile.edge != 0 && !scales_squares_of_a(scale);
}
GEMMTUNE_HOST_DEVICE constexpr bool edge_ends_columns(const TileConfig& tile, Scale scale) {
  return tile.edge != 0 && !scales_squares_of_b(scale);
}

// Sums of a consumer's thread.
GEMMTUNE_HOST_DEVICE constexpr int consumer_sums(const TileConfig& tile) {
  return consumer_rows(tile) * wgmma_tile_columns(tile) / kWarpgroupThreads;
}

GEMMTUNE_HOST_DEVICE constexpr int cluster_blocks(const TileConfig& tile) {
  return at_least_one(tile.cluster_m) * at_least_one(tile.cluster_n);
}

// Of tiles whose k is shared out over slices that meet in the workspace: whether blocks side by
// side compute neighbouring tiles over one slice, and not the slices of one tile. What they read at
// about the same time L2 sends to several of them at once. Narrow tiles have little to share, and
// memory likes to be read along k.
inline constexpr int kLargeTile = 64;  // each way
GEMMTUNE_HOST_DEVICE constexpr bool tiles_first(const TileConfig& tile) {
  return tile.reduction == kReduceWorkspace && cluster_blocks(tile) == 1 &&
         tile.tile_m >= kLargeTile && tile.tile_n >= kLargeTile;
}

// Values of k whose 8-bit products are summed before they are promoted, at the most.
inline constexpr int kMostUnpromotedK = 128;

// Tiles of k whose sums are added up in the tensor cores before they are promoted.
GEMMTUNE_HOST_DEVICE constexpr int promotion_tiles(const TileConfig& tile) {
  return at_least_one(tile.promotion);
}

// An operand's tile in shared memory, `side` of m or n by tile_k: lines along k, or, where m or n
// is contiguous, along that. They have 128 bytes, or 64 where such lines hold less of what is
// beside the tile: an SM takes in so many bytes a cycle, needed or not. Lines side by side are
// separate boxes of TMA.
struct TmaTile {
  int line_bytes;  // over which they are swizzled
  int boxes;       // of such lines, one behind the other
  int box_rows;    // lines of each

  GEMMTUNE_HOST_DEVICE constexpr TmaTile(int side, int tile_k, bool contiguous_k, int element_bytes)
      : line_bytes(kTmaLineBytes), boxes(0), box_rows(contiguous_k ? side : tile_k) {
    const int across = (contiguous_k ? tile_k : side) * element_bytes;
    const int half_lines = across / kHalfTmaLineBytes;
    if (divides(kHalfTmaLineBytes, across) && half_lines % 2 != 0 && half_lines <= kMostHalfLines)
      line_bytes = kHalfTmaLineBytes;
    boxes = (across + line_bytes - 1) / line_bytes;
  }

  GEMMTUNE_HOST_DEVICE constexpr int box_bytes() const { return box_rows * line_bytes; }
  GEMMTUNE_HOST_DEVICE constexpr int bytes() const { return boxes * box_bytes(); }

  // Of `blocks` that share the tile each loads a part of every box's lines, if those are whole
  // groups of lines after which the swizzle repeats; otherwise one block loads all, in turns.
  GEMMTUNE_HOST_DEVICE constexpr int parts(int blocks) const {
    return divides(kSwizzleLines * blocks, box_rows) ? blocks : 1;
  }

  // Lines of a part where the matrix may have no more than `lines` of them: no part loads more than
  // it needs to, all as many.
  GEMMTUNE_HOST_DEVICE constexpr int part_lines(int blocks, long long lines) const {
    const int all = box_rows / parts(blocks);
    const int unit = kSwizzleLines * parts(blocks);
    if (lines >= box_rows) return all;
    if (parts(blocks) == 1) return static_cast<int>(lines);
    return (static_cast<int>(lines) + unit - 1) / unit * kSwizzleLines;
  }
};

// Whether tiles are of few rows, which A may have less of: lines along k that lie outside of A are
// not loaded, since TMA fills zeros in slower than it loads. Larger tiles are chosen for more rows.
inline constexpr int kFewRows = 128;  // of a tile: fewer
GEMMTUNE_HOST_DEVICE constexpr bool is_of_few_rows(const TileConfig& tile, bool a_contiguous_k) {
  return a_contiguous_k && tile.tile_m < kFewRows;
}
// Whether the last of several such tiles ends with A. Rows of C that are no whole 16 bytes are
// stored in pieces, which costs more than zeros do; and TMA copies scales of blocks of k from 16
// bytes on.
GEMMTUNE_HOST_DEVICE constexpr bool ends_with_few_rows(const TileConfig& tile, bool a_contiguous_k,
                                                       int vector_c, int result_bytes,
                                                       Scale scale) {
  return is_of_few_rows(tile, a_contiguous_k) && vector_c * result_bytes >= 16 &&
         !has_block_scales(scale);
}

GEMMTUNE_HOST_DEVICE constexpr int wgmma_stage_bytes(const TileConfig& tile, bool a_contiguous_k,
                                                     bool b_contiguous_k, int element_bytes) {
  return TmaTile(tile.tile_m, tile.tile_k, a_contiguous_k, element_bytes).bytes() +
         TmaTile(tile.tile_n, tile.tile_k, b_contiguous_k, element_bytes).bytes();
}

// Lines of a tile's `side` whose scales of blocks of k a stage holds.
GEMMTUNE_HOST_DEVICE constexpr int lines_with_scales(int side, bool has_scales) {
  return has_scales ? side : 0;
}
GEMMTUNE_HOST_DEVICE constexpr int stage_scales_bytes(const TileConfig& tile, Scale scale) {
  return 4 * (lines_with_scales(tile.tile_m, scales_lines_of_a(scale)) +
              lines_with_scales(tile.tile_n, scales_lines_of_b(scale)));
}

// Of all stages, behind their tiles; what follows is aligned as tiles are.
GEMMTUNE_HOST_DEVICE constexpr int wgmma_scales_bytes(const TileConfig& tile, Scale scale) {
  const int bytes = tile.stages * stage_scales_bytes(tile, scale);
  return (bytes + kTmaTileAlignment - 1) / kTmaTileAlignment * kTmaTileAlignment;
}

// The stages of a block, of `planes` planes of each operand.
GEMMTUNE_HOST_DEVICE constexpr int wgmma_stages_bytes(const TileConfig& tile, bool a_contiguous_k,
                                                      bool b_contiguous_k, int element_bytes,
                                                      int planes, Scale scale) {
  return tile.stages * planes *
             wgmma_stage_bytes(tile, a_contiguous_k, b_contiguous_k, element_bytes) +
         wgmma_scales_bytes(tile, scale);
}

// Of a stage: it is full; it is empty.
GEMMTUNE_HOST_DEVICE constexpr int wgmma_barriers_bytes(const TileConfig& tile) {
  return 2 * tile.stages * kBarrierBytes;
}

// How a warp's results reach C through shared memory that is its own.
//
// Where rows of C are whole 16 bytes, TMA stores boxes of 16 rows from two buffers in turns, or
// from one where two do not fit beside the stages. A kernel that fetches what C holds has more,
// up to one for each box, as far as that leaves as many blocks on an SM. Lines of 16, 32, 64 or 128
// bytes are swizzled over their length; lines of an odd number of units need no swizzle, since the
// 8 lines that a warp fills at a time begin in different banks, or its 4 lines of 32-bit elements
// do.
struct WgmmaBoxes {
  static constexpr int kRows = 16;
  static constexpr int kUnit = 8;  // columns

  int element_bytes;  // of C: 2 or 4
  int columns;
  int buffers;   // of a warp
  bool fetched;  // each buffer has a barrier

  GEMMTUNE_HOST_DEVICE constexpr WgmmaBoxes(const TileConfig& tile, int c_element_bytes,
                                            int stages_bytes, bool fetches_c)
      : element_bytes(c_element_bytes),
        columns(power_of_two_in(tile.tile_n,
                                kTmaLineBytes / element_bytes / (tile.consumers > 2 ? 2 : 1))),
        buffers(2),
        fetched(fetches_c) {
    const int power_of_two = columns;
    const int odd = odd_units(tile.tile_n) * kUnit;
    if (columns < 32 && odd > columns) columns = odd;
    const int warps = tile.consumers * kWarpsOfWarpgroup;
    const int left = kMostWgmmaSharedBytes - stages_bytes - wgmma_barriers_bytes(tile);
    if (warps * all_bytes() > left) buffers = 1;
    if (warps * all_bytes() > left) columns = power_of_two;
    if (!fetched) return;
    const int boxes = consumer_rows(tile) / kWgmmaRows * (tile.tile_n / columns);
    const int others = stages_bytes + wgmma_barriers_bytes(tile) + kReservedSharedBytes;
    const int blocks = kSharedBytesOfSm / (others + warps * all_bytes());
    const int own = kSharedBytesOfSm / at_least_one(blocks) - others;
    while (buffers < boxes && warps * (buffers + 1) * (bytes() + kBarrierBytes) <= own) ++buffers;
  }

  // The largest odd number of units that boxes of equal width may have.
  GEMMTUNE_HOST_DEVICE constexpr int odd_units(int tile_n) const {
    const int most = element_bytes == 2 ? 13 : 5;
    const int odd = tile_n / power_of_two_in(tile_n, kMostWgmmaColumns);
    int units = odd < most ? odd : most;
    while (odd % units != 0) units -= 2;
    return units;
  }

  // Columns whose lines are swizzled.
  GEMMTUNE_HOST_DEVICE constexpr bool swizzled() const { return (columns & (columns - 1)) == 0; }
  GEMMTUNE_HOST_DEVICE constexpr int line_bytes() const { return columns * element_bytes; }
  GEMMTUNE_HOST_DEVICE constexpr int bytes() const { return kRows * line_bytes(); }
  GEMMTUNE_HOST_DEVICE constexpr int warp_bytes() const { return buffers * bytes(); }
  // Of a warp, with its barriers.
  GEMMTUNE_HOST_DEVICE constexpr int all_bytes() const {
    return warp_bytes() + (fetched ? buffers * kBarrierBytes : 0);
  }
};

// Whether they do. `vector_c` elements of C, of `result_bytes` each, are aligned.
GEMMTUNE_HOST_DEVICE constexpr bool stores_boxes(const TileConfig& tile, int vector_c,
                                                 int result_bytes) {
  return tile.exchange == 0 && vector_c * result_bytes >= 16 &&
         divides(WgmmaBoxes::kUnit, tile.tile_n);
}

// How the results of a consumer of exchanged tiles reach C, if that has 16-bit elements and its
// rows are whole 16 bytes: 64 columns at a time through lines of 128 bytes, which TMA stores in
// boxes of 16 lines, or 8 where 16 do not divide the tile's rows. A part of several boxes is laid
// out while TMA reads the one before, if there is room for two beside the stages.
struct WgmmaExchangedBoxes {
  static constexpr int kColumns = kWgmmaRows;
  static constexpr int kLineBytes = 2 * kColumns;
  static constexpr int kMostLines = 32;  // of a part

  int box_lines;
  int lines;    // of a part
  int buffers;  // parts that there is room for

  GEMMTUNE_HOST_DEVICE constexpr WgmmaExchangedBoxes(const TileConfig& tile, int stages_bytes)
      : box_lines(divides(16, tile.tile_m) ? 16 : 8),
        lines(tile.tile_m < kMostLines ? tile.tile_m : kMostLines),
        buffers(2) {
    const int block = kSharedBytesOfSm / at_least_one(tile.min_blocks) - kReservedSharedBytes;
    const int left = (block - stages_bytes - wgmma_barriers_bytes(tile)) / tile.consumers;
    if (bytes() > left) buffers = 1;
    while (bytes() > left && lines > box_lines) lines -= box_lines;
  }

  // Of a consumer.
  GEMMTUNE_HOST_DEVICE constexpr int part_bytes() const { return lines * kLineBytes; }
  GEMMTUNE_HOST_DEVICE constexpr int bytes() const { return buffers * part_bytes(); }
};

// Whether they do. Smaller tiles, and those of consumers that take turns, are stored as soon or
// sooner through slabs. A kernel that fetches what C holds loads it to registers, and needs those.
inline constexpr int kFewestExchangedRows = 72;
inline constexpr int kFewestExchangedColumns = 128;
GEMMTUNE_HOST_DEVICE constexpr bool stores_exchanged(const TileConfig& tile, int vector_c,
                                                     int result_bytes, bool fetches_c) {
  return tile.exchange != 0 && tile.schedule != kPingPong && tile.tile_m >= kFewestExchangedRows &&
         tile.tile_n >= kFewestExchangedColumns && !fetches_c && result_bytes == 2 &&
         vector_c * result_bytes >= 16;
}

// Where rows of 16-bit elements begin anywhere, they pass through lines of `columns` and what is
// left of the part before; the padding keeps the pairs that a warp stores in different banks.
struct WgmmaRows {
  static constexpr int kRows = 16;
  static constexpr int kElementBytes = 2;
  static constexpr int kUnit = 8;     // columns: 16 bytes
  static constexpr int kSector = 16;  // columns: 32 bytes

  int columns;

  GEMMTUNE_HOST_DEVICE explicit constexpr WgmmaRows(const TileConfig& tile)
      : columns(power_of_two_in(tile.tile_n, kTmaLineBytes / kElementBytes)) {}

  GEMMTUNE_HOST_DEVICE constexpr int line_elements() const { return columns + kSector + kUnit; }
  GEMMTUNE_HOST_DEVICE constexpr int warp_bytes() const {
    return kRows * line_elements() * kElementBytes;
  }
};

// Whether they do: with fewer columns there are more ends of rows than whole units.
GEMMTUNE_HOST_DEVICE constexpr bool stores_rows(const TileConfig& tile, int vector_c,
                                                int result_bytes) {
  return tile.exchange == 0 && result_bytes == WgmmaRows::kElementBytes &&
         vector_c * result_bytes < 16 && divides(4 * WgmmaRows::kUnit, tile.tile_n);
}

// Else they pass through a slab: lines of f32 sums along n, padded against bank conflicts.
// Exchanged, a warp holds 16 columns of C; else 16 rows.
struct WgmmaSlab {
  int rows;     // of C
  int columns;  // of C
  int stride;   // floats from row to row

  GEMMTUNE_HOST_DEVICE explicit constexpr WgmmaSlab(const TileConfig& tile)
      : rows(16), columns(16), stride(0) {
    constexpr int kMostColumns = 32;
    const int part = power_of_two_in(wgmma_tile_columns(tile), kMostColumns);
    if (tile.exchange != 0) {
      rows = part;
      stride = columns + 4;
    } else {
      columns = part;
      stride = columns + 8;
    }
  }

  GEMMTUNE_HOST_DEVICE constexpr int warp_bytes() const { return rows * stride * 4; }
};

// Of all consumers, beside so many bytes of stages.
GEMMTUNE_HOST_DEVICE constexpr int wgmma_results_bytes(const TileConfig& tile, int vector_c,
                                                       int result_bytes, int stages_bytes,
                                                       bool fetches_c) {
  const int warps = tile.consumers * kWarpsOfWarpgroup;
  if (stores_boxes(tile, vector_c, result_bytes))
    return warps * WgmmaBoxes(tile, result_bytes, stages_bytes, fetches_c).all_bytes();
  if (stores_exchanged(tile, vector_c, result_bytes, fetches_c))
    return tile.consumers * WgmmaExchangedBoxes(tile, stages_bytes).bytes();
  if (stores_rows(tile, vector_c, result_bytes)) return warps * WgmmaRows(tile).warp_bytes();
  return warps * WgmmaSlab(tile).warp_bytes();
}

// Between the stages and the barriers, where the sums of a tile, `partial_bytes`, take the place of
// the stages once those are multiplied.
GEMMTUNE_HOST_DEVICE constexpr int wgmma_bytes_behind_stages(int stages_bytes, int partial_bytes) {
  const int more = partial_bytes - stages_bytes;
  return more > 0 ? (more + kBarrierBytes - 1) / kBarrierBytes * kBarrierBytes : 0;
}

// Registers of a thread: as the block starts, and as setmaxnreg shares them out between the
// warpgroup that copies and those that multiply.
struct WgmmaRegisters {
  static constexpr int kOfSm = 65536;
  static constexpr int kMost = 255;        // that a thread can use without setmaxnreg
  static constexpr int kUnit = 8;          // that setmaxnreg counts in
  static constexpr int kMostShared = 240;  // beyond which no block of two consumers has any left

  int at_start;
  int producer;
  int consumer;

  GEMMTUNE_HOST_DEVICE explicit constexpr WgmmaRegisters(const TileConfig& tile)
      : at_start(0), producer(40), consumer(0) {
    // Sums of f32.
    if (consumer_sums(tile) > 160) producer = 24;
    const int groups = 1 + tile.consumers;
    const int blocks = at_least_one(tile.min_blocks);
    at_start = kOfSm / (groups * kWarpgroupThreads * blocks) / kUnit * kUnit;
    if (at_start > kMost) at_start = kMost;
    consumer = (groups * at_start - producer) / at_least_one(tile.consumers) / kUnit * kUnit;
    if (consumer > kMostShared) consumer = kMostShared;
  }

  GEMMTUNE_HOST_DEVICE constexpr bool shared_out() const { return at_start < kMostShared; }
  GEMMTUNE_HOST_DEVICE constexpr int of_consumer() const {
    return shared_out() ? consumer : at_start;
  }
};

// Whether a thread of a consumer has room for the sums of two parts of k beside those of all: one
// part's are added while the next one's are under way.
GEMMTUNE_HOST_DEVICE constexpr bool overlaps_parts(const TileConfig& tile) {
  constexpr int kOthers = 36;  // addresses, counters
  return 3 * consumer_sums(tile) + kOthers <= WgmmaRegisters(tile).of_consumer();
}

}  // namespace gemmtune
