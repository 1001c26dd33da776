#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/epilogue/staged_epilogue.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/multistage_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// multistage: fp32 GEMM on the SIMT units with a pipeline of `stages` shared-memory buffers filled
// by cp.async (sm_80 and up). Tiles as in double_buffer.cuh:
//
//     block tile tile_m x tile_n  >  warp tile warp_m x warp_n  >  thread tile thread_m x thread_n
//
// Shared memory and the pipeline over time are drawn in parts/simt/multistage_mainloop.cuh.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct Multistage {
  using Mainloop = MultistageMainloop<kTile, kTraits>;

  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr int kSmemBytes = Mainloop::kSmemBytes;
  // Where C is not aligned, and the buffers of the main loop have the room.
  static constexpr bool kStaged =
      kTraits.vector_c == 1 && StagedEpilogue<kTile, ThreadTile<kTile>>::kSmemBytes <= kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(
        args.m, args.n, static_cast<int>(blockIdx.x), args.raster);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    ThreadTile<kTile> tile;
    Mainloop::run(tile, smem, args, at.batch, row, column, 0, args.k);
    const auto writer = ResultWriter<kTraits.epilogue>::of(args, at.batch);
    if constexpr (kStaged) {
      __syncthreads();  // everyone has read the last buffers
      StagedEpilogue<kTile, ThreadTile<kTile>>::store(tile, smem, writer, row, column);
    } else {
      store_thread_tile<kTraits.vector_c>(tile, writer, row, column);
    }
  }
};

}  // namespace gemmtune
