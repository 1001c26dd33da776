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

// A thread tile and what C holds where it is stored, as far as that is loaded: a few rows ahead.
// (row, column) is where the block tile starts in C.
template <int kVector, class Tile, class Writer>
struct FetchedThreadTile {
  static constexpr int kAhead = Tile::kM < 4 ? Tile::kM : 4;
  static constexpr int kWidth = kVector < 4 ? kVector : 4;  // of an access
  static constexpr int kAccesses = Tile::kN / kWidth;       // of a row
  using Elements = typename Writer::template BiasVector<kWidth>;

  const Tile& tile;
  const Writer& writer;
  int row;
  int column;
  Elements biases[kAccesses] = {};
  Elements old[kAhead][kAccesses] = {};

  __device__ __forceinline__ int row_of(int i) const {
    return row + tile.row + Tile::row_offset(i);
  }
  __device__ __forceinline__ int column_of(int access) const {
    const int j = access * kWidth;
    return column + tile.column + Tile::column_offset(j / 4 * 4) + j % 4;
  }

  __device__ __forceinline__ void load_biases() {
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (column_of(a) < writer.args.n)
        biases[a] = writer.template column_bias<kWidth>(column_of(a));
    }
  }

  __device__ __forceinline__ void load_row(int i) {
    if (row_of(i) >= writer.args.m) return;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (column_of(a) < writer.args.n)
        old[i % kAhead][a] = fetched<kWidth>(writer, row_of(i), column_of(a));
    }
  }

  __device__ __forceinline__ void store_row(int i) const {
    if (row_of(i) >= writer.args.m) return;
#pragma unroll
    for (int a = 0; a < kAccesses; ++a) {
      if (column_of(a) >= writer.args.n) continue;
      FloatVector<kWidth> sums;
#pragma unroll
      for (int v = 0; v < kWidth; ++v) sums.v[v] = tile.acc[i][a * kWidth + v];
      store_over(old[i % kAhead][a], writer, sums, row_of(i), column_of(a), biases[a]);
    }
  }
};

// As store_thread_tile(), of kernels that fetch what C holds.
template <int kVector, class Tile, class Writer>
__device__ __forceinline__ void store_thread_tile_over(const Tile& tile, const Writer& writer,
                                                       int row, int column) {
  FetchedThreadTile<kVector, Tile, Writer> over{tile, writer, row, column};
  over.load_biases();
#pragma unroll
  for (int i = 0; i < over.kAhead; ++i) over.load_row(i);
#pragma unroll
  for (int i = 0; i < Tile::kM; ++i) {
    over.store_row(i);
    if (i + over.kAhead < Tile::kM) over.load_row(i + over.kAhead);
  }
}

}  // namespace gemmtune
