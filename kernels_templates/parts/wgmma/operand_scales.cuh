#pragma once

#include "parts/ptx/memory_read.cuh"
#include "parts/shared/block_scales.h"
#include "parts/shared/epilogue.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/wgmma_tiles.h"

// The scales of 8-bit operands (Epilogue::scale), which a consumer multiplies its sums by: sums
// over all of k, or over a part of it, since they are the same for every k. Those of blocks of k
// are not (block_scales.cuh).
//
// Where each row of A has one a lane has those of its two rows of each 64 of wgmma's result, and a
// share of its columns', in pairs:
//
//     columns       0 1   2 3   4 5  ...  62 63
//     held by lane   0     1     2    ...   31

namespace gemmtune {

template <Scale kScale, class Mainloop>
struct OperandScales {
  static_assert(kScale == kNoScale || has_block_scales(kScale), "the others are below");

  // `row` and `column` are where the block's tile begins in C; `first` is the warp's first row of
  // wgmma's result in it.
  static __device__ __forceinline__ OperandScales load(const GemmArgs&, int, int, int) {
    return {};
  }
  __device__ __forceinline__ void apply(typename Mainloop::Sums&) const {}
};

template <class Mainloop>
struct OperandScales<kScalePerTensor, Mainloop> {
  float a;
  float b;

  static __device__ __forceinline__ OperandScales load(const GemmArgs& args, int, int, int) {
    return {AsConstant::of(args.scale_a), AsConstant::of(args.scale_b)};
  }

  __device__ __forceinline__ void apply(typename Mainloop::Sums& sums) const {
#pragma unroll
    for (int i = 0; i < Mainloop::kRowTiles; ++i) {
#pragma unroll
      for (int j = 0; j < Mainloop::kColumns / 2; ++j) sums.at[i].at[j] = sums.at[i].at[j] * a * b;
    }
  }
};

template <class Mainloop>
struct OperandScales<kScalePerRow, Mainloop> {
  static constexpr int kPairs = (Mainloop::kColumns + 63) / 64;

  float of_rows[Mainloop::kRowTiles][2];
  float of_columns[kPairs][2];

  static __device__ __forceinline__ OperandScales load(const GemmArgs& args, int row, int column,
                                                       int first) {
    constexpr bool kExchanged = Mainloop::kExchanged;
    const float* const along_rows = kExchanged ? args.scale_b : args.scale_a;
    const float* const along_columns = kExchanged ? args.scale_a : args.scale_b;
    const int rows = kExchanged ? args.n : args.m;
    const int columns = kExchanged ? args.m : args.n;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int lane_row = (kExchanged ? column : row) + first + lane / 4;
    const int lane_column = (kExchanged ? row : column) + lane * 2;
    OperandScales out;
#pragma unroll
    for (int i = 0; i < 2 * Mainloop::kRowTiles; ++i)
      out.of_rows[i / 2][i % 2] =
          value(along_rows, lane_row + i / 2 * kWgmmaRows + i % 2 * 8, rows);
#pragma unroll
    for (int i = 0; i < 2 * kPairs; ++i)
      out.of_columns[i / 2][i % 2] =
          value(along_columns, lane_column + i / 2 * 64 + i % 2, columns);
    return out;
  }

  __device__ __forceinline__ void apply(typename Mainloop::Sums& sums) const {
#pragma unroll
    for (int j = 0; j < Mainloop::kColumns; j += 8) {
      const int lane = static_cast<int>(threadIdx.x) % 4 + j / 2 % 32;
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const float of_column = __shfl_sync(0xffffffffu, of_columns[j / 64][v], lane);
#pragma unroll
        for (int i = 0; i < 2 * Mainloop::kRowTiles; ++i) {
          float& sum = sums.at[i / 2].at[j / 2 + i % 2 * 2 + v];
          sum = sum * of_rows[i / 2][i % 2] * of_column;
        }
      }
    }
  }

 private:
  // 1 where there is no such line.
  static __device__ __forceinline__ float value(const float* scales, int at, int count) {
    return at < count ? AsConstant::of(scales + at) : 1.0f;
  }
};

// Of a tile, to be loaded when they are applied.
template <Scale kScale, class Mainloop>
struct ScalesToLoad {
  const GemmArgs& args;
  int row;
  int column;
  int first;

  __device__ __forceinline__ void apply(typename Mainloop::Sums& sums) const {
    OperandScales<kScale, Mainloop>::load(args, row, column, first).apply(sums);
  }
};

// What apply(sums) scales the sums of a tile by; see OperandScales::load. They are loaded now, so
// that nobody waits for them once the tile is multiplied, unless sums of parts of k take the
// registers.
template <Scale kScale, class Mainloop, class Passes>
__device__ __forceinline__ auto scales_of_tile(const GemmArgs& args, int row, int column,
                                               int first) {
  if constexpr (kScale == kScalePerRow && Passes::kOverlapsParts) {
    return ScalesToLoad<kScale, Mainloop>{args, row, column, first};
  } else {
    return OperandScales<kScale, Mainloop>::load(args, row, column, first);
  }
}

}  // namespace gemmtune
