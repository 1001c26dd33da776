#pragma once

#include "parts/epilogue/wgmma_results.cuh"
#include "parts/ptx/elect.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/reduce/handed_sums.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/block_scales.cuh"
#include "parts/wgmma/cluster_tiles.cuh"
#include "parts/wgmma/operand_scales.cuh"
#include "parts/wgmma/promoted_sums.cuh"
#include "parts/wgmma/stream_k_work.cuh"
#include "parts/wgmma/wgmma_mainloop.cuh"
#include "parts/wgmma/wgmma_pipeline.cuh"

// wgmma_stream_k: wgmma_tma with even shares of all multiplications in place of even tiles, for
// problems whose last wave of tiles would leave much of the card idle ("stream-K", Osama, Merrill,
// Cecka, Garland and Owens, PPoPP 2023).
//
//     5 tiles, 4 SMs, one wave and a rest      4 sharing blocks
//     SM 0   | tile 0 | tile 4 |               | 3 | tile 4 |
//     SM 1   | tile 1 |                        | 2  | 3     |
//     SM 2   | tile 2 |                        | 1   | 2    |
//     SM 3   | tile 3 |                        | tile 0 | 1 |
//
// A block that ends a tile, or has a part from its middle, leaves its sums in the workspace, first
// of all; the block that begins the tile does so last of all, and adds them in the order of k, so
// that results do not vary (handed_sums.cuh). There is one launch.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaStreamK {
  static constexpr int kStagesBytes =
      wgmma_stages_bytes(kTile, kTraits.a_row_major, !kTraits.b_row_major, multiplied_bytes(kTypes),
                         1, kTraits.epilogue.scale);
  static constexpr int kResultsBytes = wgmma_results_bytes(
      kTile, kTraits.vector_c, size_bytes(kTypes.result), kStagesBytes, kTraits.fetches_c);
  using Pipeline = WgmmaPipeline<kTile, kTraits, kTypes, kResultsBytes>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;
  using Results = WgmmaResults<kTile, kTraits, kTypes, kTraits, Mainloop, kStagesBytes>;
  using Place = typename Pipeline::Place;
  using Work = StreamKWork<kTile>;
  using Handed = HandedSums<kTile, Mainloop>;
  using At = typename ClusterTiles<kTile, kTraits.epilogue.scale, false>::At;

  static constexpr int kThreads = wgmma_threads(kTile);
  static constexpr int kSmemBytes = Pipeline::kSmemBytes;
  static constexpr WgmmaRegisters kRegisters{kTile};

  // Of results that are stored as boxes: `c` is what they are stored by.
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b, const TensorMap& c) {
    extern __shared__ __align__(kTmaTileAlignment) unsigned char smem[];
    const Pipeline pipeline{shared_address(smem)};
    let_next_kernel_start();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    Producer producer;
    if (warp == 0 && is_elected()) {
      pipeline.begin(a, b);
      producer.start(pipeline, args, a, b);
    }
    if (warp == 1 && is_elected()) pipeline.begin_releases();
    if (warp > 1) pipeline.template clear_outside<kThreads, 2>(args);
    pipeline.meet();
    if (warp < kWarpsOfWarpgroup) {
      if constexpr (kRegisters.shared_out()) give_registers_back<kRegisters.producer>();
      if (warp == 0 && is_elected()) producer.go_on(pipeline, args, a, b);
      if (warp == 1) carry(args);
      __syncwarp();
    } else {
      if constexpr (kRegisters.shared_out()) take_registers<kRegisters.consumer>();
      consume(pipeline, args, c, smem + Pipeline::kBuffersBytes,
              static_cast<int>(threadIdx.x) / kWarpgroupThreads - 1);
    }
  }

  // Of any others.
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b) {
    static_assert(!Results::kStoresBoxes && !Results::kStoresExchanged,
                  "boxes are stored by a tensor map of C");
    run(args, a, b, a);
  }

 private:
  // The thread that copies, from before the block's warps meet and part.
  struct Producer {
    typename Pipeline::Ring ring;
    Work work;
    int k;  // up to which the first tile's stages are under way

    __device__ __forceinline__ void start(const Pipeline& pipeline, const GemmArgs& args,
                                          const TensorMap& a, const TensorMap& b) {
      const Place place = Place::of_block();
      work = Work::of(args);
      const At at = At::of(args, place, work.tile);
      const int begin = work.first * kTile.tile_k;
      await_kernels_before();
      k = pipeline.start(ring, place, args, a, b, at.batch, at.row, at.column, begin, end(args));
    }

    __device__ __forceinline__ void go_on(const Pipeline& pipeline, const GemmArgs& args,
                                          const TensorMap& a, const TensorMap& b) {
      const Place place = Place::of_block();
      while (!work.ended()) {
        const At at = At::of(args, place, work.tile);
        pipeline.fill(ring, place, args, a, b, at.batch, at.row, at.column, k, end(args));
        work.advance();
        k = 0;
      }
      pipeline.drain(ring);
    }

    __device__ __forceinline__ int end(const GemmArgs& args) const {
      return min((work.first + work.count()) * kTile.tile_k, args.k);
    }
  };

  // The warp that tells other blocks of sums that are left for them, and waits for theirs.
  static __device__ __forceinline__ void carry(const GemmArgs& args) {
    const Place place = Place::of_block();
    const Handed handed{args};
    await_kernels_before();
    for (Work work = Work::of(args); !work.ended(); work.advance()) {
      if (!work.stores()) {
        handed.tell(Work::slot(work.position, place));
      } else if (const int others = work.others(); others > 0) {
        handed.await(Work::slot(work.position + 1, place), Place::kBlocks, others);
      }
    }
  }

  static __device__ __forceinline__ void consume(const Pipeline& pipeline, const GemmArgs& args,
                                                 const TensorMap& c, unsigned char* results,
                                                 int consumer) {
    const Place place = Place::of_block();
    const int warp = static_cast<int>(threadIdx.x) / 32 - kWarpsOfWarpgroup;
    unsigned char* const own = results + Results::offset(warp);
    auto fetch = Results::fetch_of(c, results, own, warp);
    if constexpr (Results::kFetchesBoxes) fetch.begin();
    const int first_row = consumer * consumer_rows(kTile);
    const int row = Results::warp_row(first_row, warp);
    const Handed handed{args};
    typename Pipeline::Ring ring;
    await_kernels_before();
    for (Work work = Work::of(args); !work.ended(); work.advance()) {
      const At at = At::of(args, place, work.tile);
      const auto writer = Results::Writer::of(args, at.batch);
      const auto ahead = Results::load_ahead(writer, at, row, work.stores());
      const auto scales =
          scales_of_tile<kTraits.epilogue.scale, Mainloop, typename Pipeline::Passes>(
              args, at.row, at.column, row);
      if constexpr (Results::kFetchesBoxes) {
        if (work.stores() && args.beta != 0.0f) fetch.start(at.batch, at.row + row, at.column);
      }
      typename Mainloop::Sums sums;
      PromotedSums<Mainloop, typename Pipeline::Passes>::run(
          sums, pipeline, ring, place, first_row, work.count(),
          parts_of_tile<kTile, kTraits.epilogue.scale, Mainloop>(
              pipeline, args, at.row, at.column, first_row, work.first * kTile.tile_k),
          [] {});
      scales.apply(sums);
      if (!work.stores()) {
        handed.leave(sums, Work::slot(work.position, place));
        continue;
      }
      const int others = work.others();
      if (others > 0)
        handed.add(sums, Work::slot(work.position + 1, place), Place::kBlocks, others);
      Results::store(sums, own, writer, ahead, fetch, c, at, row);
      if constexpr (Results::kFetchesBoxes) fetch.end_tile();
    }
    Results::finish();
  }
};

}  // namespace gemmtune
