#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/multistage_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// sliced_k: multistage with the k of a block's tile of C shared out over `groups` groups of its
// warps, for problems with too few tiles to give every SM several blocks. A group is what a block
// of multistage is: it has a pipeline and a barrier of its own, so that the groups hide each
// other's latencies; but their sums are added in the block's shared memory, not in another's or in
// global memory.
//
//     group 0   k: |  part 0  |             one pipeline a group, time ->
//     group 1              |  part 1  |
//     group 2                      |  part 2  |
//                                              then partial tiles P0 P1 P2 [tile_m][tile_n + 4]
//                                              in shared memory; all threads add them in order
//
// With `slices` > 1, k is shared out over as many blocks as well. All these sums are added up by
// parts/reduce/reduction.cuh.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SlicedK {
  static constexpr int kGroups = kTile.groups;
  static constexpr int kGroupThreads = warp_tile_threads(kTile);
  using Group = ThreadGroup<kGroupThreads, kGroups>;
  using Mainloop = MultistageMainloop<kTile, kTraits, Group>;
  using Partial = PartialTile<kTile, kSimtPartialPadding>;
  using Reduction = SliceReduction<kTile, kTraits, ElementTypes{}, Partial>;
  static constexpr int kSlices = Reduction::kSlices;

  static constexpr int kThreads = kGroups * kGroupThreads;
  static constexpr int kGroupFloats =
      Mainloop::kFloats > Partial::kFloats ? Mainloop::kFloats : Partial::kFloats;
  static constexpr int kSmemBytes = kGroups * kGroupFloats * 4;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const int slice = static_cast<int>(blockIdx.x) % kSlices;
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(
        args.m, args.n, static_cast<int>(blockIdx.x) / kSlices, args.raster);
    const auto tile = Partial::of(args, at);
    multiply(smem + Group::index() * kGroupFloats, args, tile, at.batch,
             slice * kGroups + Group::index());
    Reduction::template run<kThreads, kGroups, kGroupFloats>(smem, args, tile, at.batch, slice);
  }

  static constexpr int kFinishThreads = Reduction::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) { Reduction::finish(args); }

  static constexpr int kPrepareThreads = Reduction::kPrepareThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) { Reduction::prepare(args); }

 private:
  // Multiplies part `part` of k and stores the group's sums to its own shared memory.
  static __device__ __forceinline__ void multiply(float* smem, const GemmArgs& args,
                                                  const Partial& at, int batch, int part) {
    const KRange range = k_range<kTile.tile_k, kGroups * kSlices>(args.k, part);
    ThreadTile<kTile> tile(Group::thread());
    if (!range.empty()) {
      Mainloop::run(tile, smem, args, batch, at.row, at.column, range.begin, range.end);
      Group::sync();  // everyone has read the last buffers
    }
    store_partial_tile<Partial::kRowFloats>(tile, smem, args, kTile.tile_m);
  }
};

}  // namespace gemmtune
