#pragma once

#include "parts/ptx/memory_read.cuh"
#include "parts/ptx/shared_access.cuh"
#include "parts/ptx/shared_word.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/block_scales.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Scales of blocks of k (block_scales.h): a stage has 128 values of k, and consumers multiply its
// sums by their scales as they add them to those of all.
//
//     of each line       the producer has TMA copy them into the stage, as it does tiles
//     of 128 lines each  one for a stage, or a few, which consumers load themselves

namespace gemmtune {

// Copies of the scales of each line of a tile, kSide of them, into its stages, in the order of k.
template <int kSide>
struct LineScaleCopies {
  const float* from;
  long long step;
  int bytes;  // of a stage, of lines that there are

  // Of lines from `line` on.
  static __device__ __forceinline__ LineScaleCopies of(const float* scales, int line, int k,
                                                       const BlockScales& all) {
    return {scales + all.index(first(line, all), k), all.stride(), bytes_from(line, all)};
  }
  static __device__ __forceinline__ int bytes_from(int line, const BlockScales& all) {
    return 4 * min(static_cast<int>(all.stride()) - first(line, all), kSide);
  }

  __device__ __forceinline__ void load_next(unsigned to, unsigned barrier) {
    load_bytes(to, from, bytes, barrier);
    from += step;
  }

 private:
  // A tile that lies outside, as some of a cluster do, has others.
  static __device__ __forceinline__ int first(int line, const BlockScales& all) {
    return line < all.lines ? line : 0;
  }
};

// ... of squares there are none.
template <>
struct LineScaleCopies<0> {
  int bytes;

  static __device__ __forceinline__ LineScaleCopies of(const float*, int, int, const BlockScales&) {
    return {0};
  }
  static __device__ __forceinline__ int bytes_from(int, const BlockScales&) { return 0; }
  __device__ __forceinline__ void load_next(unsigned, unsigned) {}
};

// What stages hold: scales of A's lines, then of B's.
template <TileConfig kTile, Scale kScale>
struct StageScales {
  static constexpr int kLinesOfA = lines_with_scales(kTile.tile_m, scales_lines_of_a(kScale));
  static constexpr int kLinesOfB = lines_with_scales(kTile.tile_n, scales_lines_of_b(kScale));
  static constexpr int kBytesOfA = 4 * kLinesOfA;
  static constexpr int kBytes = stage_scales_bytes(kTile, kScale);

  static __device__ __forceinline__ BlockScales of_a(const GemmArgs& args) {
    return {scales_squares_of_a(kScale), args.m, args.k};
  }
  static __device__ __forceinline__ BlockScales of_b(const GemmArgs& args) {
    return {scales_squares_of_b(kScale), args.n, args.k};
  }

  using CopiesOfA = LineScaleCopies<kLinesOfA>;
  using CopiesOfB = LineScaleCopies<kLinesOfB>;

  // Of the tile at (row, column), from k on.
  struct Copies {
    CopiesOfA a;
    CopiesOfB b;

    static __device__ __forceinline__ Copies of(const GemmArgs& args, int row, int column, int k) {
      return {CopiesOfA::of(args.scale_a, row, k, of_a(args)),
              CopiesOfB::of(args.scale_b, column, k, of_b(args))};
    }
    __device__ __forceinline__ int bytes() const { return a.bytes + b.bytes; }
    __device__ __forceinline__ void load_next(unsigned to, unsigned barrier) {
      a.load_next(to, barrier);
      b.load_next(to + kBytesOfA, barrier);
    }
  };
};

// The scales of kCount squares side by side, in the order of k.
template <int kCount>
struct SquareScales {
  const float* next;         // of the first one
  long long offset[kCount];  // from there

  // Of lines from `line` on, from k on; squares that lie outside have those of others.
  static __device__ __forceinline__ SquareScales of(const float* scales, int line, int k,
                                                    const BlockScales& all) {
    const int last = static_cast<int>(all.lines) - 1;
    SquareScales out;
    out.next = scales + all.index(min(line, last), k);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      out.offset[i] = line + i * kScaleBlock <= last ? i * all.stride() : 0;
    return out;
  }

  __device__ __forceinline__ void load_next(float (&to)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i] = AsConstant::of(next + offset[i]);
    ++next;
  }
};

// How the sums of a part of k are added to those of a tile: as they are.
struct PlainParts {
  static constexpr bool kHasScales = false;
  static constexpr bool kReadsAsItAdds = false;
  struct Scales {};

  __device__ __forceinline__ Scales read(int) const { return {}; }
  template <class Sums>
  __device__ __forceinline__ void add(Sums& sums, const Sums& of_part, const Scales&) const {
    sums.add(of_part);
  }
};

// ... or each stage's by its scales. Scales of columns are read as the sums are added, others while
// products are under way. Lines that C does not have get the last one's.
template <TileConfig kTile, Scale kScale, class Mainloop>
struct ScaledParts {
  using Stage = StageScales<kTile, kScale>;
  static constexpr bool kHasScales = true;
  static constexpr bool kExchanged = Mainloop::kExchanged;
  static constexpr bool kSquaresOfRows =
      kExchanged ? scales_squares_of_b(kScale) : scales_squares_of_a(kScale);
  static constexpr bool kSquaresOfColumns =
      kExchanged ? scales_squares_of_a(kScale) : scales_squares_of_b(kScale);
  static constexpr bool kReadsAsItAdds = !kSquaresOfColumns;
  static constexpr int kRows = 2 * Mainloop::kRowTiles;  // of a lane
  static constexpr int kAlongSquares =
      kSquaresOfRows ? Mainloop::kRowTiles * kWgmmaRows : Mainloop::kColumns;
  static constexpr int kSquares = (kAlongSquares + kScaleBlock - 1) / kScaleBlock;

  // Of a stage.
  struct Scales {
    float of_row[kRows];
    float of_square[kSquares];
    unsigned of_columns;  // address
  };

  SquareScales<kSquares> squares;  // where one operand has them
  unsigned of_rows;                // address of the first stage's
  unsigned of_columns;
  int row_bytes;
  int column_bytes;
  int first_row;  // the consumer's, of wgmma's result in the block's tile

  // Of the tile at (row, column), from k on.
  static __device__ __forceinline__ ScaledParts of(unsigned stage_scales, const GemmArgs& args,
                                                   int row, int column, int first_row, int k) {
    const int bytes_of_a = Stage::CopiesOfA::bytes_from(row, Stage::of_a(args));
    const int bytes_of_b = Stage::CopiesOfB::bytes_from(column, Stage::of_b(args));
    const unsigned of_b = stage_scales + Stage::kBytesOfA;
    ScaledParts out;
    if constexpr (scales_squares_of_a(kScale)) {
      out.squares = SquareScales<kSquares>::of(args.scale_a, kSquaresOfRows ? row + first_row : row,
                                               k, Stage::of_a(args));
    } else if constexpr (scales_squares_of_b(kScale)) {
      out.squares = SquareScales<kSquares>::of(
          args.scale_b, kSquaresOfRows ? column + first_row : column, k, Stage::of_b(args));
    }
    out.of_rows = kExchanged ? of_b : stage_scales;
    out.of_columns = kExchanged ? stage_scales : of_b;
    out.row_bytes = kExchanged ? bytes_of_b : bytes_of_a;
    out.column_bytes = kExchanged ? bytes_of_a : bytes_of_b;
    out.first_row = first_row;
    return out;
  }

  // Of a stage that is full, in the order of k.
  __device__ __forceinline__ Scales read(int stage) {
    Scales scales;
    if constexpr (kSquaresOfRows || kSquaresOfColumns) squares.load_next(scales.of_square);
    if constexpr (!kSquaresOfRows) {
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        scales.of_row[i] =
            load_shared_float(of_rows + stage * Stage::kBytes + row_offset(i / 2, i % 2));
    }
    scales.of_columns = of_columns + stage * Stage::kBytes;
    return scales;
  }

  // The sums of that stage's products.
  template <class Sums>
  __device__ __forceinline__ void add(Sums& sums, const Sums& of_part, const Scales& scales) const {
    const unsigned lane_columns = scales.of_columns + threadIdx.x % 4 * 8;
    const unsigned last_columns = scales.of_columns + column_bytes - 8;
#pragma unroll
    for (int j = 0; j < Mainloop::kColumns; j += 8) {
      FloatVector<2> of_column;
      if constexpr (kSquaresOfColumns) {
        of_column.v[0] = of_column.v[1] = scales.of_square[j / kScaleBlock];
      } else {
        of_column = load_shared_pair(lane_columns + j * 4, last_columns);
      }
#pragma unroll
      for (int i = 0; i < 2 * kRows; ++i) {
        const int at = j / 2 + i % 4;
        sums.at[i / 4].at[at] +=
            of_part.at[i / 4].at[at] * (of_row(scales, i / 2) * of_column.v[i % 2]);
      }
    }
  }

 private:
  static __device__ __forceinline__ float of_row(const Scales& scales, int i) {
    if constexpr (kSquaresOfRows) return scales.of_square[i / 2 * kWgmmaRows / kScaleBlock];
    return scales.of_row[i];
  }

  // Of the scale of a lane's row of 64, the upper or the lower one.
  __device__ __forceinline__ int row_offset(int row_tile, int lower) const {
    const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
    const int line = first_row + row_tile * kWgmmaRows + thread / 32 * 16 + thread % 32 / 4;
    return min(4 * (line + lower * 8), row_bytes - 4);
  }
};

// ... of the tile at (row, column), of which a consumer computes wgmma's rows from first_row on,
// from k on.
template <TileConfig kTile, Scale kScale, class Mainloop, class Pipeline>
__device__ __forceinline__ auto parts_of_tile(const Pipeline& pipeline, const GemmArgs& args,
                                              int row, int column, int first_row, int k) {
  if constexpr (has_block_scales(kScale)) {
    return ScaledParts<kTile, kScale, Mainloop>::of(pipeline.stage_scales(0), args, row, column,
                                                    first_row, k);
  } else {
    return PlainParts{};
  }
}

}  // namespace gemmtune
