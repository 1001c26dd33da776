#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/double_buffer_mainloop.cuh"
#include "parts/simt/multistage_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// split_k: double_buffer (copies through registers) or multistage (by cp.async) with the k of every
// tile of C shared out over `slices` blocks, for problems whose tiles alone do not fill the card
// (small m and n, tall k).
//
//     block b computes tile b / slices of C over slice b % slices of k:
//
//     k:  |  slice 0  |  slice 1  |  slice 2  |      partial tiles P0, P1, P2 of one tile of C
//
// They are added up by parts/reduce/reduction.cuh.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, bool kThroughRegisters>
struct SplitKMainloop {
  using Type = MultistageMainloop<kTile, kTraits>;
};
template <TileConfig kTile, KernelTraits kTraits>
struct SplitKMainloop<kTile, kTraits, true> {
  using Type = DoubleBufferMainloop<kTile, kTraits>;
};

template <TileConfig kTile, KernelTraits kTraits>
struct SplitK {
  using Mainloop = typename SplitKMainloop<kTile, kTraits, kTile.copy == kCopyRegisters>::Type;
  using Tile = ThreadTile<kTile>;
  using Partial = PartialTile<kTile, kSimtPartialPadding>;
  using Reduction = SliceReduction<kTile, kTraits, ElementTypes{}, Partial>;

  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr int kSlices = kTile.slices;
  static constexpr int kPartialBytes = Reduction::kInCluster ? Partial::kFloats * 4 : 0;
  static constexpr int kSmemBytes =
      Mainloop::kSmemBytes > kPartialBytes ? Mainloop::kSmemBytes : kPartialBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const int block = static_cast<int>(blockIdx.x);
    const int slice = block % kSlices;
    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, block / kSlices, args.raster);
    const auto partial = Partial::of(args, at);
    const KRange range = k_range<kTile.tile_k, kSlices>(args.k, slice);
    Tile tile;
    if (!range.empty()) {
      Mainloop::run(tile, smem, args, at.batch, partial.row, partial.column, range.begin,
                    range.end);
    }
    if constexpr (Reduction::kInCluster) {
      __syncthreads();  // everyone has read the last buffers
      store_partial_tile<Partial::kRowFloats>(tile, smem, args, kTile.tile_m);
      Reduction::template run<kThreads, 1, 0>(smem, args, partial, at.batch, slice);
    } else if constexpr (Reduction::kAtomic) {
      store_thread_tile<1>(tile, AtomicWriter::of(args, at.batch), partial.row, partial.column);
    } else {
      store_partial_tile<kTile.tile_n>(tile, Reduction::Slots::slot(args, block), args,
                                       args.m - partial.row);
    }
  }

  static constexpr int kFinishThreads = Reduction::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) { Reduction::finish(args); }

  static constexpr int kPrepareThreads = Reduction::kPrepareThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) { Reduction::prepare(args); }
};

}  // namespace gemmtune
