#pragma once

#include "parts/epilogue/wmma_epilogue.cuh"
#include "parts/mma/wmma_mainloop.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"

// wmma: GEMM on the tensor cores by nvcuda::wmma's instructions (f16 from sm_75, bf16 from sm_80),
// with two shared-memory buffers that are filled through registers. f32 operands are rounded to f16
// on their way, sums and C stay f32.
//
//     C: m x n             block tile                warp tile             fragments
//     +----+----+--        tile_m x tile_n           warp_m x warp_n       16 x 16, 16 deep
//     |    |    |          (one thread block)        (one warp)
//     +----+----+--        +-------+-------+         +--+--+--+--+         layout over the lanes:
//     |    |    |    --->  | warp0 | warp1 |  --->   |  |  |  |  |  --->   the hardware's affair,
//     +----+----+--        +-------+-------+         +--+--+--+--+         so results leave through
//     |    |    |          | warp2 | warp3 |         |  |  |  |  |         shared memory
//                          +-------+-------+         +--+--+--+--+
//
// Parts: copies half_register_loader.cuh, shared memory padded_rows.cuh, products wmma.cuh, the
// loop over k wmma_mainloop.cuh, results wmma_epilogue.cuh.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct Wmma {
  using Mainloop = WmmaMainloop<kTile, kTraits, kTypes>;
  using Results = WmmaEpilogue<kTypes, kTraits.vector_c, kTile.warp_m, kTile.warp_n>;

  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr int kSlabsBytes = kThreads / 32 * Results::kSlabBytes;
  static constexpr int kSmemBytes =
      Mainloop::kSmemBytes > kSlabsBytes ? Mainloop::kSmemBytes : kSlabsBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(128) unsigned char smem[];
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(
        args.m, args.n, static_cast<int>(blockIdx.x), args.raster);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    typename Mainloop::Sums sums;
    Mainloop::run(sums, shared_address(smem), args, at.batch, row, column, 0, args.k);
    Results::store(sums, smem + threadIdx.x / 32 * Results::kSlabBytes,
                   ResultWriter<kTraits.epilogue, kTypes.result>::of(args, at.batch),
                   row + Mainloop::warp_row(), column + Mainloop::warp_column());
  }
};

}  // namespace gemmtune
