#pragma once

#include "parts/epilogue/wgmma_results.cuh"
#include "parts/ptx/elect.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/plane_pairs.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/block_scales.cuh"
#include "parts/wgmma/cluster_tiles.cuh"
#include "parts/wgmma/consumer_turns.cuh"
#include "parts/wgmma/operand_scales.cuh"
#include "parts/wgmma/promoted_sums.cuh"
#include "parts/wgmma/wgmma_mainloop.cuh"
#include "parts/wgmma/wgmma_pipeline.cuh"

// wgmma_tma: GEMM on Hopper's tensor cores (sm_90a). One warpgroup of a block, the producer, has
// TMA copy tiles of A and B to shared memory; one to three others, the consumers, multiply them.
//
//     warpgroup 0        full        warpgroups 1..consumers
//     TMA  ---------> | stage 0 | ---------> wgmma, sums in registers ---> results ---> C
//                     | stage 1 |
//              <----- |   ...   | <---------
//                        empty
//
//     cooperative                        ping-pong
//     consumer 1: rows 0-63  of tile 0   consumer 1: | multiply tile 0 | store | multiply tile 2 |
//     consumer 2: rows 64-127            consumer 2:                   | multiply tile 1 | store |
//
// Blocks of a cluster share tiles: each loads a part and TMA delivers it to all that need it.
// Blocks go through the tiles of C with a stride (a persistent grid), so that a block's copies for
// its next tile are under way while it stores this one.
//
// Parts: copies and descriptors operand_tiles.cuh, stages and barriers wgmma_pipeline.cuh, products
// wgmma_mainloop.cuh, sums of 8-bit products promoted_sums.cuh, their scales operand_scales.cuh and
// block_scales.cuh, results wgmma_results.cuh.

namespace gemmtune {

// kTraits are of the operands as they are multiplied, kOwnTraits of the problem's own.
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes,
          KernelTraits kOwnTraits = kTraits>
struct WgmmaTma {
  static constexpr int kStagesBytes =
      wgmma_stages_bytes(kTile, kTraits.a_row_major, !kTraits.b_row_major, multiplied_bytes(kTypes),
                         PlanePairs<kTypes.products>::kStagePlanes, kTraits.epilogue.scale);
  static constexpr int kResultsBytes = wgmma_results_bytes(
      kTile, kTraits.vector_c, size_bytes(kTypes.result), kStagesBytes, kTraits.fetches_c);
  using Pipeline = WgmmaPipeline<kTile, kTraits, kTypes, kResultsBytes>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;
  using Passes = typename Pipeline::Passes;
  using Results = WgmmaResults<kTile, kTraits, kTypes, kOwnTraits, Mainloop, kStagesBytes>;
  using Place = typename Pipeline::Place;
  using Tiles = ClusterTiles<kTile, kTraits.epilogue.scale,
                             ends_with_few_rows(kTile, kTraits.a_row_major, kTraits.vector_c,
                                                size_bytes(kTypes.result), kTraits.epilogue.scale)>;
  using At = typename Tiles::At;

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
  static constexpr bool kIsPingPong = kTile.schedule == kPingPong;

  // The thread that copies. It starts before the block's warps meet and part: the first copies are
  // on their way the sooner, and their code lies at the kernel's beginning, where instructions are
  // fetched anyway.
  struct Producer {
    typename Pipeline::Ring ring;
    At at;
    int k;  // that the first tile's stages hold already

    __device__ __forceinline__ void start(const Pipeline& pipeline, const GemmArgs& args,
                                          const TensorMap& a, const TensorMap& b) {
      const Place place = Place::of_block();
      at = At::of(args, place, Tiles::first());
      await_kernels_before();
      k = pipeline.start(ring, place, args, a, b, at.batch, at.row, at.column, 0, args.k);
    }

    __device__ __forceinline__ void go_on(const Pipeline& pipeline, const GemmArgs& args,
                                          const TensorMap& a, const TensorMap& b) {
      const Place place = Place::of_block();
      const Tiles tiles = Tiles::of(args);
      int tile = Tiles::first();
      while (tile < tiles.count) {
        pipeline.fill(ring, place, args, a, b, at.batch, at.row, at.column, k, args.k);
        k = 0;
        tile += tiles.step;
        at = At::of(args, place, tile);
      }
      pipeline.drain(ring);
    }
  };

  static __device__ __forceinline__ void consume(const Pipeline& pipeline, const GemmArgs& args,
                                                 const TensorMap& c, unsigned char* results,
                                                 int consumer) {
    const Place place = Place::of_block();
    const Tiles tiles = Tiles::of(args);
    const int tiles_k = (args.k + kTile.tile_k - 1) / kTile.tile_k;
    const int stages = Passes::stages(tiles_k);
    const int warp = static_cast<int>(threadIdx.x) / 32 - kWarpsOfWarpgroup;
    unsigned char* const own = results + Results::offset(warp);
    auto fetch = Results::fetch_of(c, results, own, warp);
    if constexpr (Results::kFetchesBoxes) fetch.begin();
    const int first_row = kIsPingPong ? 0 : consumer * consumer_rows(kTile);
    constexpr int kTurns = ConsumerTurns<kTile>::kTurns;
    const int own_tiles = (tiles.count - Tiles::first() + tiles.step - 1) / tiles.step;
    ConsumerTurns<kTile> turns{consumer, (own_tiles + kTurns - 1) / kTurns};
    typename Pipeline::Ring ring;
    await_kernels_before();
    int tile = Tiles::first();
    if constexpr (kTurns > 1) {
      ring.skip(consumer * stages);
      tile += consumer * tiles.step;
    }
    for (; !turns.ended(); ++turns.round, tile += kTurns * tiles.step) {
      // Before its turn, for which the tensor cores wait.
      const At at = At::of(args, place, tile);
      const auto writer = Results::Writer::of(args, at.batch);
      const auto ahead =
          Results::load_ahead(writer, at, Results::warp_row(first_row, warp), tile < tiles.count);
      const auto scales = scales_of_tile<kTraits.epilogue.scale, Mainloop, Passes>(
          args, at.row, at.column, Results::warp_row(first_row, warp));
      if constexpr (Results::kFetchesBoxes) {
        if (tile < tiles.count && args.beta != 0.0f)
          fetch.start(at.batch, at.row + Results::warp_row(first_row, warp), at.column);
      }
      turns.await();
      if (tile >= tiles.count) {  // some other consumer's round
        turns.pass();
        continue;
      }
      typename Mainloop::Sums sums;
      PromotedSums<Mainloop, Passes>::run(sums, pipeline, ring, place, first_row, tiles_k,
                                          parts_of_tile<kTile, kTraits.epilogue.scale, Mainloop>(
                                              pipeline, args, at.row, at.column, first_row, 0),
                                          [&] { turns.pass(); });
      if constexpr (kTurns > 1) ring.skip((kTurns - 1) * stages);
      scales.apply(sums);
      Results::store(sums, own, writer, ahead, fetch, c, at, Results::warp_row(first_row, warp));
      if constexpr (Results::kFetchesBoxes) fetch.end_tile();
    }
    Results::finish();
  }
};

}  // namespace gemmtune
