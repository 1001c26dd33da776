#pragma once

#include "parts/epilogue/exact_product.cuh"
#include "parts/epilogue/mma_epilogue.cuh"
#include "parts/mma/mma_mainloop.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"

// mma_multistage: GEMM on the tensor cores by mma.sync, with a pipeline of `stages` shared-memory
// buffers filled by cp.async; on sm_75 of two, filled through registers. Operands are f16, and from
// sm_80 on bf16, or f32 multiplied as tf32 (once, or in three products that together are as
// accurate as f32: mma_products.cuh).
//
//     block tile tile_m x tile_n  >  warp tile warp_m x warp_n  >  mma tile 16 x 8, 32 bytes deep
//
// Parts: copies mma_tile_loader.cuh, shared memory swizzled_rows.cuh, fragments mma_fragments.cuh,
// products mma_products.cuh, the pipeline over time mma_mainloop.cuh, results mma_epilogue.cuh.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaMultistage {
  using Mainloop = MmaMainloop<kTile, kTraits, kTypes>;
  using Slab = MmaSlab<kTile.warp_n>;
  using Results =
      MmaEpilogue<kTraits.vector_c, kTile.warp_m, kTile.warp_n, typename Mainloop::Rows>;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;

  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr int kSlabsBytes = kThreads / 32 * Slab::kBytes;
  static constexpr int kSmemBytes =
      Mainloop::kSmemBytes > kSlabsBytes ? Mainloop::kSmemBytes : kSlabsBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(kMmaBufferAlignment) unsigned char smem[];
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n, unsigned>(
        args.m, args.n, static_cast<int>(blockIdx.x), args.raster);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    typename Mainloop::Sums sums;
    Mainloop::run(sums, shared_address(smem), args, at.batch, row, column, 0, args.k);
    store(sums, smem, args, at.batch, row, column);
  }

  // Stores the block's tile at (row, column) of C, through all of its shared memory.
  static __device__ __forceinline__ void store(const typename Mainloop::Sums& sums,
                                               unsigned char* smem, const GemmArgs& args, int batch,
                                               int row, int column) {
    float* slab = reinterpret_cast<float*>(smem + threadIdx.x / 32 * Slab::kBytes);
    Results::store(sums, slab, Writer::of(args, batch), row + Mainloop::warp_row(),
                   column + Mainloop::warp_column(), correction<kTraits, kTypes>(args, batch));
  }
};

}  // namespace gemmtune
