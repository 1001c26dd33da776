#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Stores the sums of a warp of a consumer where TMA cannot, since rows of a 16-bit C begin
// anywhere: 16 of its warpgroup's 64 rows. Results are finished in registers, as pairs of
// neighbouring columns, and pass through lines of shared memory, in parts of as many columns as
// WgmmaRows says. A row's results are shifted in its line as they are in the sector of C that they
// begin in, so that whole sectors are stored; what is left of a part begins the line of the next
// one:
//
//     line, first part:  |..shift..| results   | results   |  more  |
//     C:                   singles   sectors                  |
//                                                             v
//     line, next part:                           |  more  | results | results   | more
//     C:                                           sectors                        singles, at the
//                                                                                 tile's end
//
// Four lanes store the two rows, 8 apart, that they have sums of. Both have the same shift.

namespace gemmtune {

template <TileConfig kTile, class Writer, bool kFetchesC>
struct WgmmaRowStore {
  static constexpr WgmmaRows kRows{kTile};
  static constexpr int kParts = kTile.tile_n / kRows.columns;
  static constexpr int kUnit = WgmmaRows::kUnit;
  static constexpr int kRowsApart = 8;
  static constexpr int kLinesApart = kRowsApart * kRows.line_elements();
  using Element = typename Writer::Element;

  // (row, column) is where the warp's 16 rows of wgmma's result begin in C.
  template <class Sums>
  static __device__ __forceinline__ void store(const Sums& sums, Element* lines,
                                               const Writer& writer, int row, int column) {
    const Place place = Place::of(writer, lines, row, column);
    const int width = writer.args.n - column;
    if constexpr (kParts > 1) {
      clear_rest(place);
      __syncwarp();
    }
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (kFetchesC || writer.args.beta != 0.0f) {
        const bool reads = writer.args.beta != 0.0f;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const bool exists = reads && place.m + half * kRowsApart < writer.args.m;
          load_old(place.row(writer, half) + place.shift + part * kRows.columns,
                   place.line + half * kLinesApart + place.shift,
                   exists ? width - part * kRows.columns : 0, place.quarter);
        }
        __syncwarp();
        fill<true>(sums, writer, place, column, part);
      } else {
        fill<false>(sums, writer, place, column, part);
      }
      __syncwarp();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (place.m + half * kRowsApart >= writer.args.m) continue;
        const Element* const line = place.line + half * kLinesApart;
        Element* const to = place.row(writer, half) + part * kRows.columns;
        if (width >= kTile.tile_n) {
          store_sectors(place, line, to, part);
        } else {
          store_singles(place, line, to, part, width - part * kRows.columns);
        }
      }
      __syncwarp();
      if (part + 1 < kParts) {
        move_rest(place);
        __syncwarp();
      }
    }
  }

 private:
  // Where the lane's first row is.
  struct Place {
    Element* to;    // in C: the sector of its first result
    Element* line;  // in shared memory
    int shift;      // of its results in it
    int m;
    int quarter;  // which of the row's 4 lanes it is

    static __device__ __forceinline__ Place of(const Writer& writer, Element* lines, int row,
                                               int column) {
      const int lane = reread_thread_index() % 32;  // not kept while the tile is multiplied
      const int line = lane / 4;
      Element* const to = writer.c + (row + line) * writer.args.ldc + column;
      const auto shift = static_cast<int>(reinterpret_cast<unsigned long long>(to) /
                                          sizeof(Element) % WgmmaRows::kSector);
      Element* sector = to - shift;
      asm volatile("" : "+l"(sector));  // computed once: again per access, registers spill
      return {sector, lines + line * kRows.line_elements(), shift, row + line, lane % 4};
    }

    // The same in C of one of the two rows.
    __device__ __forceinline__ Element* row(const Writer& writer, int half) const {
      return to + half * kRowsApart * writer.args.ldc;
    }
  };

  // Lays what C holds of a part of a row, `width` columns, out in its line; all at a time where it
  // is read mostly.
  static __device__ __forceinline__ void load_old(const Element* from, Element* line, int width,
                                                  int quarter) {
    constexpr int kAtOnce = kFetchesC ? kRows.columns / 4 : 1;
#pragma unroll 1
    for (int i = quarter; i < kRows.columns; i += 4 * kAtOnce) {
      Element old[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) old[j] = i + j * 4 < width ? from[i + j * 4] : Element{};
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) line[i + j * 4] = old[j];
    }
  }

  // Lays the lane's results of a part out in its rows' lines, with or without what lies there of C;
  // `column` is the tile's in C.
  template <bool kReadsC, class Sums>
  static __device__ __forceinline__ void fill(const Sums& sums, const Writer& writer,
                                              const Place& place, int column, int part) {
    Element* const lines = place.line + (place.shift + place.quarter * 2);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int m = place.m + half * kRowsApart;
      const float of_row = m < writer.args.m ? writer.row_bias(m) : 0.0f;
#pragma unroll
      for (int j = 0; j < kRows.columns; j += 8) {
        const int at = part * kRows.columns + j;  // of wgmma's columns
        const int n = column + at + place.quarter * 2;
        FloatVector<2> bias = {of_row, of_row};
        if constexpr (Writer::kHasColumnBias) {
          const auto of_columns = writer.template column_biases<1, 2>(n);
          bias = {of_columns.get(0), of_columns.get(1)};
        }
        Element* const to = lines + half * kLinesApart + j;
        HalfVector<2> old = {};
        if constexpr (kReadsC) old.words[0] = pack_halves(to[0], to[1]);
        const unsigned pair = writer.template pair<kReadsC>(
            {sums.get(at, half, 0), sums.get(at, half, 1)}, old, bias);
        to[0] = static_cast<Element>(pair);
        to[1] = static_cast<Element>(pair >> 16);
      }
    }
  }

  // What is complete of a row that C has all columns of.
  static __device__ __forceinline__ void store_sectors(const Place& place, const Element* line,
                                                       Element* to, int part) {
    const int shift = place.shift;
#pragma unroll
    for (int i = 0; i < kRows.columns; i += 4 * kUnit) {
      const int unit = i + place.quarter * kUnit;
      if (part > 0 || unit >= shift) store_unit(line, to, unit);
    }
    const int odd = shift % kUnit;
    if (part == 0 && odd != 0) {
#pragma unroll
      for (int i = place.quarter; i < kUnit; i += 4) {
        if (i >= odd) to[shift - odd + i] = line[shift - odd + i];
      }
    }
    if (part + 1 == kParts && shift != 0) {
      if (place.quarter * kUnit + odd < shift)
        store_unit(line, to, kRows.columns + place.quarter * kUnit);
      const int single = kRows.columns + shift - odd;
#pragma unroll
      for (int i = place.quarter; i < kUnit; i += 4) {
        if (i < odd) to[single + i] = line[single + i];
      }
    }
  }

  static __device__ __forceinline__ void store_unit(const Element* line, Element* to, int at) {
    store_halves(to + at, load_halves<kUnit>(line + at));
  }

  // What is complete of a row that C has `width` columns of, from this part on.
  static __device__ __forceinline__ void store_singles(const Place& place, const Element* line,
                                                       Element* to, int part, int width) {
    const int complete = kRows.columns + (part + 1 < kParts ? 0 : place.shift);
    const int end = min(complete, place.shift + width);
#pragma unroll 1
    for (int i = (part == 0 ? place.shift : 0) + place.quarter; i < end; i += 4) to[i] = line[i];
  }

  // Units that are moved may be results in part.
  static __device__ __forceinline__ void clear_rest(const Place& place) {
    if (place.quarter * kUnit >= WgmmaRows::kSector) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      store_halves(place.line + half * kLinesApart + kRows.columns + place.quarter * kUnit,
                   HalfVector<kUnit>{});
    }
  }

  // Moves the results behind the columns of the lines to their begin.
  static __device__ __forceinline__ void move_rest(const Place& place) {
    const int unit = place.quarter * kUnit;
    if (unit >= place.shift) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Element* const to = place.line + half * kLinesApart + unit;
      store_halves(to, load_halves<kUnit>(to + kRows.columns));
    }
  }
};

}  // namespace gemmtune
