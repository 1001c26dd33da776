#pragma once

#include "parts/ptx/elect.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/promoted_sums.cuh"
#include "parts/wgmma/wgmma_mainloop.cuh"
#include "parts/wgmma/wgmma_partial.cuh"
#include "parts/wgmma/wgmma_pipeline.cuh"

// wgmma_split_k: wgmma_tma with the k of every tile of C shared out over `slices` blocks, for
// problems whose tiles alone do not fill the card, or do not ask for enough of its memory at a
// time.
//
//     block b computes tile b / slices of C over slice b % slices of k
//
// Where the sums meet in the workspace, blocks of neighbouring tiles and one slice may be a cluster
// that shares tiles of A and B, as in wgmma_tma; then b counts clusters.
//
//     shared memory: stages of the pipeline, afterwards the tile's sums (partial_tile.cuh);
//     barriers
//
// The slices' sums are added up by parts/reduce/reduction.cuh. Its threads are all of the block's,
// so registers are not shared out.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaSplitK {
  using Partial = PartialTile<kTile, kMmaPartialPadding>;
  using Reduction = SliceReduction<kTile, kTraits, kTypes, Partial>;
  static constexpr int kSlices = Reduction::kSlices;
  static constexpr int kStagesBytes =
      kTile.stages *
      wgmma_stage_bytes(kTile, kTraits.a_row_major, !kTraits.b_row_major, multiplied_bytes(kTypes));
  static constexpr int kPartialBytes =
      Reduction::kInCluster ? partial_tile_bytes(kTile, kMmaPartialPadding) : 0;
  using Pipeline =
      WgmmaPipeline<kTile, kTraits, kTypes, wgmma_bytes_behind_stages(kStagesBytes, kPartialBytes)>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;

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
    typename Pipeline::Ring ring;
    int k = range.begin;
    if (warp == 0 && is_elected()) pipeline.begin(a, b);
    if (warp == 1 && is_elected()) pipeline.begin_releases();
    await_kernels_before();
    if (warp == 0 && is_elected()) {
      k = pipeline.start(ring, share.place, args, a, b, share.at.batch, tile.row, tile.column,
                         range.begin, range.end);
    }
    pipeline.meet();
    if (warp < kWarpsOfWarpgroup) {
      if (warp == 0 && is_elected()) {
        pipeline.fill(ring, share.place, args, a, b, share.at.batch, tile.row, tile.column, k,
                      range.end);
        pipeline.drain(ring);
      }
      __syncwarp();
    } else if constexpr (Reduction::kInCluster) {
      multiply(pipeline, share.place, range, reinterpret_cast<float*>(smem), consumer(),
               kTile.tile_m);
    } else {
      multiply(pipeline, share.place, range, Reduction::Slots::slot(args, share.slot), consumer(),
               share.rows);
    }
    if constexpr (Reduction::kInCluster) {
      Reduction::template run<kThreads, 1, Partial::kFloats>(reinterpret_cast<float*>(smem), args,
                                                             tile, share.at.batch, share.slice);
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
      const int slice = cluster % kSlices;
      if constexpr (Place::kBlocks == 1) {
        const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n, unsigned>(
            args.m, args.n, cluster / kSlices, args.raster);
        return {Place{}, at, slice, cluster, args.m - at.row * kTile.tile_m};
      } else {
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
  };

  static __device__ __forceinline__ int consumer() {
    return static_cast<int>(threadIdx.x) / kWarpgroupThreads - 1;
  }

  // By a consumer: the sums of its rows of the block's tile, into the tile at `to`, but for rows of
  // C from `rows` on.
  static __device__ __forceinline__ void multiply(const Pipeline& pipeline, const Place& place,
                                                  const KRange& range, float* to, int consumer,
                                                  int rows) {
    const int first = consumer * consumer_rows(kTile);
    typename Mainloop::Sums sums;
    if (range.empty()) {
      sums.clear();
    } else {
      typename Pipeline::Ring ring;
      const int tiles = (range.end - range.begin + kTile.tile_k - 1) / kTile.tile_k;
      PromotedSums<Mainloop, typename Pipeline::Passes>::run(sums, pipeline, ring, place, first,
                                                             tiles, [] {});
    }
    // Other warps may still read the last stage, whose place the sums take.
    if constexpr (Reduction::kInCluster) {
      asm volatile("bar.sync 1, %0;" ::"n"(kTile.consumers * kWarpgroupThreads) : "memory");
    }
    const int warp = static_cast<int>(threadIdx.x) / 32 % kWarpsOfWarpgroup;
    store_wgmma_partial<Mainloop, (Reduction::kInCluster ? Partial::kRowFloats : kTile.tile_n)>(
        sums, to, first + warp * 16, rows);
  }
};

}  // namespace gemmtune
