#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/single_buffer_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// warp_tile: vectorized with a tile of each warp between block tile and thread tile.
//
//     block tile              warp tile, iterations_m = 1,          thread tile
//     tile_m x tile_n         iterations_n = 2; numbers are lanes   thread_m x thread_n
//     +-------+-------+       +-------------+-------------+
//     | warp0 | warp1 |       |  0  1 ..  7 |  0  1 ..  7 |         +----+  +----+
//     +-------+-------+  -->  |  8  9 .. 15 |  8  9 .. 15 |   -->   |    |  |    |   of lane 9
//     | warp2 | warp3 |       | 16 ..       | 16 ..       |         +----+  +----+
//     +-------+-------+       | 24 ..       | 24 ..       |      subtiles: thread_m / iterations_m
//                             +-------------+-------------+         x thread_n / iterations_n
//
// A warp's reads for one k come from a short subtile of each shared tile, so more lanes share a
// word; and what a thread computes is spread over the iterations, so that the lanes of a warp read
// neighbouring vectors. Index formulas in parts/simt/thread_tile.cuh; shared memory and barriers in
// parts/simt/single_buffer_mainloop.cuh.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct WarpTile {
  using Tile = ThreadTile<kTile>;

  static constexpr int kThreads = warp_tile_threads(kTile);
  using Mainloop = SingleBufferMainloop<kTile, kTraits, kThreads>;
  static constexpr int kSmemBytes = Mainloop::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, static_cast<int>(blockIdx.x));
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    Tile tile;
    Mainloop::run(args, at.batch, row, column, [&tile](const float* a, const float* b) {
      multiply_tile<kTile, Mainloop::kStrideA, Mainloop::kStrideB>(tile, a, b);
    });
    store_thread_tile<kTraits.vector_c>(tile, ResultWriter<kTraits.epilogue>::of(args, at.batch),
                                        row, column);
  }
};

}  // namespace gemmtune
