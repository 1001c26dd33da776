#pragma once

#include "parts/epilogue/fetched_results.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/shared/gemm_args.h"

// Stores thread tiles of the fp32 strategies (parts/simt/thread_tile.cuh), straight from registers.

namespace gemmtune {

// 1, but the compiler cannot know. Accumulators that leave for a 16-byte store unchanged would have
// to lie in four neighbouring registers each, and the main loop's FFMAs would pay for that with
// register-bank conflicts; multiplied on their way out, they lie where the main loop wants them.
__device__ __forceinline__ float opaque_one(const GemmArgs& args) {
  return args.m > 0 ? 1.0f : 2.0f;
}

// Stores the calling thread's sums in a tile at `to` whose rows are kRowFloats apart; rows from
// `rows` on are not wanted.
template <int kRowFloats, class Tile>
__device__ __forceinline__ void store_partial_tile(const Tile& tile, float* to,
                                                   const GemmArgs& args, int rows) {
  const float one = opaque_one(args);
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i) {
    const int line = tile.row + Tile::row_offset(i);
    if (line >= rows) continue;
#pragma unroll
    for (int j = 0; j < Tile::kN; j += 4) {
      const auto& acc = tile.acc[i];
      store_vector<4>(to + line * kRowFloats + tile.column + Tile::column_offset(j),
                      {one * acc[j], one * acc[j + 1], one * acc[j + 2], one * acc[j + 3]});
    }
  }
}

// Row and column are where the block tile starts in C; `writer` is a ResultWriter. What it needs of
// the columns is loaded once for all rows.
template <int kVector, class Tile, class Writer>
__device__ __forceinline__ void store_thread_tile(const Tile& tile, const Writer& writer, int row,
                                                  int column) {
  decltype(writer.template column_biases<kVector, 4>(0)) biases[Tile::kN / 4];
#pragma unroll
  for (int j = 0; j < Tile::kN; j += 4) {
    biases[j / 4] =
        writer.template column_biases<kVector, 4>(column + tile.column + Tile::column_offset(j));
  }
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i) {
    const int m = row + tile.row + Tile::row_offset(i);
    if (m >= writer.args.m) continue;
#pragma unroll
    for (int j = 0; j < Tile::kN; j += 4) {
      const FloatVector<4> sums{tile.acc[i][j], tile.acc[i][j + 1], tile.acc[i][j + 2],
                                tile.acc[i][j + 3]};
      writer.template store_row<kVector>(sums, m, column + tile.column + Tile::column_offset(j),
                                         biases[j / 4]);
    }
  }
}

// As store_thread_tile(), of kernels that fetch what C holds: a few rows ahead of those it stores.
template <int kVector, class Tile, class Writer>
__device__ __forceinline__ void store_thread_tile_over(const Tile& tile, const Writer& writer,
                                                       int row, int column) {
  constexpr int kAhead = Tile::kM < 4 ? Tile::kM : 4;
  constexpr int kWidth = kVector < 4 ? kVector : 4;
  typename Writer::template BiasVector<kWidth> biases[Tile::kN / kWidth] = {};
  typename Writer::template BiasVector<kWidth> old[kAhead][Tile::kN / kWidth] = {};
  const auto row_of = [&](int i) { return row + tile.row + Tile::row_offset(i); };
  const auto column_of = [&](int j) {
    return column + tile.column + Tile::column_offset(j / 4 * 4) + j % 4;
  };
  const auto load = [&](int i) {
    if (row_of(i) >= writer.args.m) return;
#pragma unroll
    for (int j = 0; j < Tile::kN; j += kWidth) {
      if (column_of(j) < writer.args.n)
        old[i % kAhead][j / kWidth] = fetched<kWidth>(writer, row_of(i), column_of(j));
    }
  };
#pragma unroll
  for (int j = 0; j < Tile::kN; j += kWidth) {
    if (column_of(j) < writer.args.n)
      biases[j / kWidth] = writer.template column_bias<kWidth>(column_of(j));
  }
#pragma unroll
  for (int i = 0; i < kAhead; ++i) load(i);
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i) {
    if (row_of(i) < writer.args.m) {
#pragma unroll
      for (int j = 0; j < Tile::kN; j += kWidth) {
        if (column_of(j) >= writer.args.n) continue;
        FloatVector<kWidth> sums;
#pragma unroll
        for (int v = 0; v < kWidth; ++v) sums.v[v] = tile.acc[i][j + v];
        store_over(old[i % kAhead][j / kWidth], writer, sums, row_of(i), column_of(j),
                   biases[j / kWidth]);
      }
    }
    if (i + kAhead < Tile::kM) load(i + kAhead);
  }
}

}  // namespace gemmtune
