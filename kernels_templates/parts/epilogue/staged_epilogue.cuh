#pragma once

#include "parts/epilogue/row_bodies.cuh"
#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"

// Stores thread tiles whose rows of C are not aligned for 16-byte accesses. A lane holds 4
// neighbouring columns; stored word by word, a warp would touch 4 times the sectors it fills. So
// each warp passes its tile through shared memory, a subtile of 4 rows a lane at a time, and stores
// whole rows (row_bodies.cuh):
//
//     registers                     the warp's shared memory          C
//     lane  0: rows 0-3, cols 0-3                                     row 0: lanes 0 1 .. 7
//     lane  1: rows 0-3, cols 4-7   [kLanesM * 4][warp_n + 4]   ->    row 1: lanes 8 9 .. 15
//     ...                                                             ...

namespace gemmtune {

// Tile is the thread tile (thread_tile.cuh).
template <TileConfig kTile, class Tile>
struct StagedEpilogue {
  static_assert(Tile::kSubtileM == 4 && Tile::kSubtileN == 4, "subtiles of 4 x 4");

  static constexpr int kRows = Tile::kLanesM * Tile::kSubtileM;  // at a time
  static constexpr int kStride = kTile.warp_n + 4;               // floats
  static constexpr int kWarpFloats = kRows * kStride;
  static constexpr int kSmemBytes = warp_tile_threads(kTile) / 32 * kWarpFloats * 4;

  // As store_thread_tile(); nobody may read or write `smem` any more.
  template <class Writer>
  static __device__ __forceinline__ void store(Tile& tile, float* smem, const Writer& writer,
                                               int row, int column) {
    const int thread = reread_thread_index();
    tile.place(thread);
    const int warp_row = tile.row / kTile.warp_m * kTile.warp_m;  // in the block tile
    const int warp_column = tile.column / kTile.warp_n * kTile.warp_n;
    float* const own = smem + thread / 32 * kWarpFloats;
#pragma unroll
    for (int subtile = 0; subtile < Tile::kM; subtile += Tile::kSubtileM) {
      __syncwarp();
      stage(tile, own, subtile, tile.row - warp_row, tile.column - warp_column,
            opaque_one(writer.args));
      __syncwarp();
      const int first = row + warp_row + subtile * Tile::kLanesM;
      RowBodies<kTile.warp_n, kStride, kRows>::store(
          own, writer, [&](int r) { return first + r; }, column + warp_column);
    }
  }

 private:
  // The lane's rows subtile .. subtile + 3, into the rows of the warp's buffer.
  static __device__ __forceinline__ void stage(const Tile& tile, float* own, int subtile,
                                               int lane_row, int lane_column, float one) {
#pragma unroll
    for (int i = 0; i < Tile::kSubtileM; ++i) {
#pragma unroll
      for (int j = 0; j < Tile::kN; j += 4) {
        const auto& acc = tile.acc[subtile + i];
        store_vector<4>(own + (lane_row + i) * kStride + lane_column + Tile::column_offset(j),
                        {one * acc[j], one * acc[j + 1], one * acc[j + 2], one * acc[j + 3]});
      }
    }
  }
};

}  // namespace gemmtune
