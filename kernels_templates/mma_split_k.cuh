#pragma once

#include "parts/epilogue/mma_epilogue.cuh"
#include "parts/mma/mma_mainloop.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"

// mma_split_k: mma_multistage with the k of every tile of C shared out, over `groups` groups of a
// block's warps and over `slices` blocks: for problems whose tiles alone do not fill the card.
//
//     block b computes tile b / slices of C over slice b % slices of k, and each of its groups over
//     a part of that; slices = 2, groups = 3:
//
//     k:      |  part 0  |  part 1  |  part 2  |  part 3  |  part 4  |  part 5  |
//     groups        0          1          2    |     0          1          2
//     blocks              2t                   |               2t + 1
//
// A group is what a block of mma_multistage is: it has a pipeline and a barrier of its own, so that
// the groups hide each other's latencies.
//
//     shared memory: a group's pipeline, afterwards its sums (partial_tile.cuh), times groups
//
// All these sums are added up by parts/reduce/reduction.cuh. Not by atomic additions: a C of 16
// bits would be rounded by each of them.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaSplitK {
  static constexpr int kGroups = kTile.groups;
  using Group = ThreadGroup<warp_tile_threads(kTile), kGroups>;
  using Mainloop = MmaMainloop<kTile, kTraits, kTypes, Group>;
  using Partial = PartialTile<kTile, kMmaPartialPadding, typename Mainloop::Rows>;
  using Reduction = SliceReduction<kTile, kTraits, kTypes, Partial>;
  static constexpr int kSlices = Reduction::kSlices;

  // Sums that no other thread needs go from registers to the workspace.
  static constexpr bool kThroughShared = kGroups > 1 || Reduction::kInCluster;
  static constexpr int kThreads = kGroups * Group::kThreads;
  static constexpr int kPartialBytes = kThroughShared ? Partial::kFloats * 4 : 0;
  static constexpr int kGroupBytes =
      Mainloop::kSmemBytes > kPartialBytes ? Mainloop::kSmemBytes : kPartialBytes;
  static constexpr int kSmemBytes = kGroups * kGroupBytes;
  static_assert(kGroupBytes % kMmaBufferAlignment == 0);

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(kMmaBufferAlignment) unsigned char smem[];
    const int block = static_cast<int>(blockIdx.x);
    const int slice = block % kSlices;
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n, unsigned>(
        args.m, args.n, block / kSlices, args.raster);
    const auto tile = Partial::of(args, at);
    unsigned char* group_smem = smem + Group::index() * kGroupBytes;
    typename Mainloop::Sums sums;
    const KRange range =
        k_range<kTile.tile_k, kGroups * kSlices>(args.k, slice * kGroups + Group::index());
    if (!range.empty()) {
      Mainloop::run(sums, shared_address(group_smem), args, at.batch, tile.row, tile.column,
                    range.begin, range.end);
    }
    if constexpr (kThroughShared) {
      store_partial_tile<Mainloop, Partial::kRowFloats>(sums, reinterpret_cast<float*>(group_smem),
                                                        kTile.tile_m);
      Reduction::template run<kThreads, kGroups, kGroupBytes / 4>(reinterpret_cast<float*>(smem),
                                                                  args, tile, at.batch, slice);
    } else {
      store_partial_tile<Mainloop, kTile.tile_n>(sums, Reduction::Slots::slot(args, block),
                                                 args.m - tile.row);
    }
  }

  static constexpr int kFinishThreads = Reduction::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) { Reduction::finish(args); }
};

}  // namespace gemmtune
