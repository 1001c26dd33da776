#pragma once

#include "parts/ptx/elect.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/reduce/cluster_sums.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/cluster_sums.h"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/block_scales.cuh"
#include "parts/wgmma/operand_scales.cuh"
#include "parts/wgmma/promoted_sums.cuh"
#include "parts/wgmma/wgmma_mainloop.cuh"
#include "parts/wgmma/wgmma_partial.cuh"
#include "parts/wgmma/wgmma_pipeline.cuh"

// wgmma_split_k: wgmma_tma with the k of every tile of C shared out over `slices` blocks, for
// problems whose tiles alone do not fill the card, or do not ask for enough of its memory at a
// time.
//
//     block b computes tile b / slices of C over slice b % slices of k, or, where tiles come first
//     (wgmma_tiles.h), tile b % tiles over slice b / tiles
//
// Where the sums meet in the workspace, blocks of neighbouring tiles and one slice may be a cluster
// that shares tiles of A and B, as in wgmma_tma; then b counts clusters, and slices come first.
//
//     shared memory: stages of the pipeline; sums of the other slices, where they meet in a
//     cluster; barriers
//
// The slices' sums are added up by a second kernel (parts/reduce/reduction.cuh), or by the blocks
// of a cluster (parts/reduce/cluster_sums.cuh). There all threads of a block add, so registers are
// not shared out.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaSplitK {
  using Partial = PartialTile<kTile, kMmaPartialPadding>;
  using Reduction = SliceReduction<kTile, kTraits, kTypes, Partial>;
  static constexpr int kSlices = Reduction::kSlices;
  static constexpr int kStagesBytes =
      wgmma_stages_bytes(kTile, kTraits.a_row_major, !kTraits.b_row_major, multiplied_bytes(kTypes),
                         1, kTraits.epilogue.scale);
  static constexpr bool kInCluster = Reduction::kInCluster;
  static constexpr int kBehind = kInCluster ? cluster_sums_bytes(kTile, kStagesBytes) : 0;
  using Pipeline = WgmmaPipeline<kTile, kTraits, kTypes, kBehind>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;
  using InCluster = WgmmaClusterSums<kTile, kTraits, kTypes, Mainloop>;

  static constexpr int kThreads = wgmma_threads(kTile);
  static constexpr int kSmemBytes = Pipeline::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b) {
    extern __shared__ __align__(kTmaTileAlignment) unsigned char smem[];
    const Pipeline pipeline{shared_address(smem)};
    let_next_kernel_start();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const Share share = Share::of_block(args);
    const auto tile = Partial::of(args, share.at);
    const KRange range = k_range<kTile.tile_k, kSlices>(args.k, share.slice);
    const InCluster in_cluster{reinterpret_cast<float*>(smem),
                               reinterpret_cast<float*>(smem + kSlotsOffset), share.slice};
    typename Pipeline::Ring ring;
    int k = range.begin;
    if (warp == 0 && is_elected()) pipeline.begin(a, b);
    if (warp == 1 && is_elected()) {
      pipeline.begin_releases();
      if constexpr (kInCluster) in_cluster.begin();
    }
    if (warp > 1) pipeline.template clear_outside<kThreads, 2>(args);
    await_kernels_before();
    if (warp == 0 && is_elected()) {
      k = pipeline.start(ring, share.place, args, a, b, share.at.batch, tile.row, tile.column,
                         range.begin, range.end);
    }
    pipeline.meet();
    if constexpr (kInCluster) cluster_arrive();
    if (warp < kWarpsOfWarpgroup) {
      if (warp == 0 && is_elected()) {
        pipeline.fill(ring, share.place, args, a, b, share.at.batch, tile.row, tile.column, k,
                      range.end);
        pipeline.drain(ring);
      }
      __syncwarp();
      if constexpr (kInCluster) cluster_wait();
    } else {
      multiply(pipeline, args, share.place, tile, range,
               [&](const typename Mainloop::Sums& sums, int first) {
                 if constexpr (kInCluster) {
                   in_cluster.share_out(sums, first);
                 } else {
                   store_wgmma_partial<Mainloop, kTile.tile_n>(
                       sums, Reduction::Slots::slot(args, share.slot), first, share.rows);
                 }
               });
    }
    if constexpr (kInCluster) {
      __syncthreads();
      in_cluster.template add_up<kThreads>(args, tile, share.at.batch);
    }
  }

  static constexpr int kFinishThreads = Reduction::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    Reduction::finish(args);
  }

 private:
  using Place = typename Pipeline::Place;
  static constexpr int kSlotsOffset =
      kStagesBytes + wgmma_bytes_behind_stages(kStagesBytes, InCluster::kPart.slot_bytes());
  static_assert(Place::kBlocks == 1 || Reduction::kInWorkspace,
                "slots are those of tiles in plain row order");

  // What a block computes.
  struct Share {
    Place place;
    TileCoordinates at;
    int slice;
    int slot;  // of the workspace
    int rows;  // of C that the tile has; none beyond the last tile, in clusters that C cuts

    static __device__ __forceinline__ Share of_block(const GemmArgs& args) {
      const int cluster = static_cast<int>(blockIdx.x) / Place::kBlocks;
      if constexpr (tiles_first(kTile)) {
        const unsigned tiles = gridDim.x / kSlices;
        const unsigned slice = blockIdx.x / tiles;
        const unsigned tile = blockIdx.x - slice * tiles;
        return of_tile(args, static_cast<int>(tile), static_cast<int>(slice),
                       static_cast<int>(tile * kSlices + slice));
      } else if constexpr (Place::kBlocks == 1) {
        return of_tile(args, cluster / kSlices, cluster % kSlices, cluster);
      } else {
        const int slice = cluster % kSlices;
        const Place place = Place::of_block();
        const auto first =
            tile_coordinates<kTile.tile_m * Place::kM, kTile.tile_n * Place::kN, unsigned>(
                args.m, args.n, cluster / kSlices);
        const TileCoordinates at = {first.row * Place::kM + place.m,
                                    first.column * Place::kN + place.n, first.batch};
        const int rows = (args.m + kTile.tile_m - 1) / kTile.tile_m;
        const int columns = (args.n + kTile.tile_n - 1) / kTile.tile_n;
        const int tile = (at.batch * rows + at.row) * columns + at.column;
        const bool inside = at.row < rows && at.column < columns;
        return {place, at, slice, inside ? tile * kSlices + slice : 0,
                inside ? args.m - at.row * kTile.tile_m : 0};
      }
    }

    static __device__ __forceinline__ Share of_tile(const GemmArgs& args, int tile, int slice,
                                                    int slot) {
      const auto at =
          tile_coordinates<kTile.tile_m, kTile.tile_n, unsigned>(args.m, args.n, tile, args.raster);
      return {Place{}, at, slice, slot, args.m - at.row * kTile.tile_m};
    }
  };

  // By a consumer: multiplies its rows of the block's tile; use(sums, first row of the warp).
  template <class Use>
  static __device__ __forceinline__ void multiply(const Pipeline& pipeline, const GemmArgs& args,
                                                  const Place& place, const Partial& tile,
                                                  const KRange& range, Use use) {
    const int consumer = static_cast<int>(threadIdx.x) / kWarpgroupThreads - 1;
    const int first = consumer * consumer_rows(kTile);
    const auto of_warp = [first] {
      return first + static_cast<int>(threadIdx.x) / 32 % kWarpsOfWarpgroup * 16;
    };
    const auto scales = scales_of_tile<kTraits.epilogue.scale, Mainloop, typename Pipeline::Passes>(
        args, tile.row, tile.column, of_warp());
    typename Mainloop::Sums sums;
    if (range.empty()) {
      sums.clear();
    } else {
      typename Pipeline::Ring ring;
      const int tiles = (range.end - range.begin + kTile.tile_k - 1) / kTile.tile_k;
      PromotedSums<Mainloop, typename Pipeline::Passes>::run(
          sums, pipeline, ring, place, first, tiles,
          parts_of_tile<kTile, kTraits.epilogue.scale, Mainloop>(pipeline, args, tile.row,
                                                                 tile.column, first, range.begin),
          [] {});
    }
    scales.apply(sums);
    use(sums, of_warp());
  }
};

}  // namespace gemmtune
