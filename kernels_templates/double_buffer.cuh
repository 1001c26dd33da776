#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/double_buffer_mainloop.cuh"
#include "parts/simt/multistage_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// double_buffer: fp32 GEMM on the SIMT units with two shared-memory buffers.
//
//     C: m x n             block tile                warp tile             thread tile
//     +----+----+--        tile_m x tile_n           warp_m x warp_n       thread_m x thread_n
//     |    |    |          (one thread block)        (32 thread tiles)     (4 x 4 subtiles, spread)
//     +----+----+--        +-------+-------+         +--+--+--+--+
//     |    |    |    --->  | warp0 | warp1 |  --->   |  |  |  |  |  --->   acc[thread_m][thread_n]
//     +----+----+--        +-------+-------+         +--+--+--+--+
//     |    |    |          | warp2 | warp3 |         |  |  |  |  |
//                          +-------+-------+         +--+--+--+--+
//
// Tiles travel to shared memory through registers (parts/simt/double_buffer_mainloop.cuh) or, where
// kTile.copy says so, by cp.async, which transposes word by word
// (parts/simt/multistage_mainloop.cuh, with two buffers; sm_80 and up).

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, int kCopy = kTile.copy>
struct DoubleBufferCopies {
  using Mainloop = DoubleBufferMainloop<kTile, kTraits>;
};
template <TileConfig kTile, KernelTraits kTraits>
struct DoubleBufferCopies<kTile, kTraits, kCopyAsync> {
  using Mainloop = MultistageMainloop<kTile, kTraits>;
};

template <TileConfig kTile, KernelTraits kTraits>
struct DoubleBuffer {
  using Mainloop = typename DoubleBufferCopies<kTile, kTraits>::Mainloop;

  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr int kSmemBytes = Mainloop::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(
        args.m, args.n, static_cast<int>(blockIdx.x), args.raster);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    ThreadTile<kTile> tile;
    Mainloop::run(tile, smem, args, at.batch, row, column, 0, args.k);
    if constexpr (kTraits.fetches_c) {
      store_thread_tile_over<kTraits.vector_c>(
          tile, ResultWriter<kTraits.epilogue>::of(args, at.batch), row, column);
    } else {
      store_thread_tile<kTraits.vector_c>(tile, ResultWriter<kTraits.epilogue>::of(args, at.batch),
                                          row, column);
    }
  }
};

}  // namespace gemmtune
