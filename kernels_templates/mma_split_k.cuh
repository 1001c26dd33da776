#pragma once

#include "parts/mma/mma_mainloop.cuh"
#include "parts/ptx/cluster.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/mma_partials.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
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
// the groups hide each other's latencies. Their sums are added in the block's shared memory, as
// f32:
//
//     shared memory: a group's pipeline, afterwards its partial tile (mma_partials.cuh), times
//     groups
//
// The blocks' sums are added up as kTile.reduction says, in order, so that results do not vary:
//
//   workspace   Every block stores its partial tile into slot b of the workspace; a second kernel,
//               finish(), sums a tile's slots and applies alpha and beta.
//
//   cluster     The slices of a tile are one cluster (sm_90 and up); after a cluster barrier each
//               block sums a part of the tile over the shared memory of all.
//
// Not by atomic additions: a C of 16 bits would be rounded by each of them.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaSplitK {
  static constexpr int kGroups = kTile.groups;
  static constexpr int kSlices = kTile.slices;
  using Group = ThreadGroup<warp_tile_threads(kTile), kGroups>;
  using Mainloop = MmaMainloop<kTile, kTraits, kTypes, Group>;
  using Partials = MmaPartials<kTile, kTraits, kTypes>;
  using Finish = MmaFinish<kTile, kTraits, kTypes>;

  static constexpr bool kInCluster = kSlices > 1 && kTile.reduction == kReduceCluster;
  // Sums that no other thread needs go from registers to the workspace.
  static constexpr bool kThroughShared = kGroups > 1 || kInCluster;
  static constexpr int kThreads = kGroups * Group::kThreads;
  static constexpr int kPartialBytes = kThroughShared ? Partials::kBytes : 0;
  static constexpr int kGroupBytes =
      Mainloop::kSmemBytes > kPartialBytes ? Mainloop::kSmemBytes : kPartialBytes;
  static constexpr int kSmemBytes = kGroups * kGroupBytes;
  static_assert(kGroupBytes % kMmaBufferAlignment == 0);

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(kMmaBufferAlignment) unsigned char smem[];
    const int block = static_cast<int>(blockIdx.x);
    const int slice = block % kSlices;
    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n, kTile.raster>(args.m, args.n, block / kSlices);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    unsigned char* group_smem = smem + Group::index() * kGroupBytes;
    typename Mainloop::Sums sums;
    multiply(sums, group_smem, args, at.batch, row, column, slice * kGroups + Group::index());
    if constexpr (kThroughShared) {
      store_sums<Partials::kStride>(sums, reinterpret_cast<float*>(group_smem), kTile.tile_m);
      reduce(reinterpret_cast<float*>(smem), args, at.batch, row, column, slice);
    } else {
      store_sums<kTile.tile_n>(sums, Partials::slot(args, block), args.m - row);
    }
  }

  static constexpr int kFinishThreads = Finish::kThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) {
    constexpr int kWays = finish_ways(kSlices);
    constexpr int kSubtiles = finish_blocks_of_tile(Partials::kSlotFloats, kWays);
    const int tile = static_cast<int>(blockIdx.x) / kSubtiles;
    const int subtile = static_cast<int>(blockIdx.x) % kSubtiles;
    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n, kTile.raster>(args.m, args.n, tile);
    Finish::run(args, at, subtile, kWays, kSlices, [&](int i) { return tile * kSlices + i; });
  }

 private:
  // Adds the product of part `part` of k.
  static __device__ __forceinline__ void multiply(typename Mainloop::Sums& sums,
                                                  const unsigned char* smem, const GemmArgs& args,
                                                  int batch, int row, int column, int part) {
    const KRange range = k_range<kTile.tile_k, kGroups * kSlices>(args.k, part);
    if (range.empty()) return;
    Mainloop::run(sums, shared_address(smem), args, batch, row, column, range.begin, range.end);
  }

  template <int kRowFloats>
  static __device__ __forceinline__ void store_sums(const typename Mainloop::Sums& sums, float* to,
                                                    int rows) {
    Partials::template store_sums_of_warp<kRowFloats>(sums, to, Mainloop::warp_row(),
                                                      Mainloop::warp_column(), rows);
  }

  // Adds up what the groups stored in the block's shared memory, and what the blocks did.
  static __device__ __forceinline__ void reduce(float* partials, const GemmArgs& args, int batch,
                                                int row, int column, int slice) {
    if constexpr (kInCluster) {
      add_groups_in_place(partials);
      add_blocks(partials, args, batch, row, column, slice);
    } else if constexpr (kSlices > 1) {
      float* slot = Partials::slot(args, static_cast<int>(blockIdx.x));
      add_groups(partials, [&](int v, const FloatVector<4>& sum) {
        if (row + Partials::row_of(v) < args.m) store_vector<4>(slot + 4 * v, sum);
      });
    } else {
      add_groups(partials, [&](int v, const FloatVector<4>& sum) {
        store(sum, args, batch, row, column, v);
      });
    }
  }

  // Calls f(v, the sum of vector v over the groups) for the calling thread's vectors.
  template <class F>
  static __device__ __forceinline__ void add_groups(const float* partials, F f) {
    __syncthreads();  // the groups have stored their sums
    for (int v = static_cast<int>(threadIdx.x); v < Partials::kVectors; v += kThreads) {
      f(v, Partials::template sum<kGroups>([&](int group) {
          return load_vector<4>(partials + group * (kGroupBytes / 4) + Partials::offset_of(v));
        }));
    }
  }

  static __device__ __forceinline__ void add_groups_in_place(float* partials) {
    if constexpr (kGroups == 1) return;
    add_groups(partials, [&](int v, const FloatVector<4>& sum) {
      store_vector<4>(partials + Partials::offset_of(v), sum);
    });
  }

  // Adds up the cluster's partial tiles; block `rank` does every kSlices-th run of kThreads
  // vectors.
  static __device__ __forceinline__ void add_blocks(const float* partials, const GemmArgs& args,
                                                    int batch, int row, int column, int rank) {
    cluster_sync();
    for (int v = rank * kThreads + static_cast<int>(threadIdx.x); v < Partials::kVectors;
         v += kSlices * kThreads) {
      const auto sum = Partials::template sum<kSlices>([&](int block) {
        const float4 x = cluster_load(partials + Partials::offset_of(v), block);
        return FloatVector<4>{x.x, x.y, x.z, x.w};
      });
      store(sum, args, batch, row, column, v);
    }
    cluster_sync();  // no block may leave while others read its shared memory
  }

  // Vector v of the tile at (row, column).
  static __device__ __forceinline__ void store(const FloatVector<4>& sum, const GemmArgs& args,
                                               int batch, int row, int column, int v) {
    Partials::store(sum, args, batch, row + Partials::row_of(v), column + Partials::column_of(v));
  }
};

}  // namespace gemmtune
