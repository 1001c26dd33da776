#pragma once

#include "parts/epilogue/exact_product.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/epilogue/wgmma_box_store.cuh"
#include "parts/epilogue/wgmma_epilogue.cuh"
#include "parts/epilogue/wgmma_exchanged_store.cuh"
#include "parts/epilogue/wgmma_row_store.cuh"
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
#include "parts/wgmma/cluster_tiles.cuh"
#include "parts/wgmma/consumer_turns.cuh"
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
// wgmma_mainloop.cuh, results wgmma_box_store.cuh and wgmma_exchanged_store.cuh (by TMA),
// wgmma_row_store.cuh (rows of a 16-bit C that begin anywhere) and wgmma_epilogue.cuh (any others).

namespace gemmtune {

// kTraits are of the operands as they are multiplied, kOwnTraits of the problem's own.
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes,
          KernelTraits kOwnTraits = kTraits>
struct WgmmaTma {
  static constexpr int kStagesBytes =
      kTile.stages * PlanePairs<kTypes.products>::kStagePlanes *
      wgmma_stage_bytes(kTile, kTraits.a_row_major, !kTraits.b_row_major, multiplied_bytes(kTypes));
  static constexpr int kResultsBytes = wgmma_results_bytes(
      kTile, kTraits.vector_c, size_bytes(kTypes.result), kStagesBytes, kTraits.fetches_c);
  using Pipeline = WgmmaPipeline<kTile, kTraits, kTypes, kResultsBytes>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;
  using Passes = typename Pipeline::Passes;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;
  using Boxes = WgmmaBoxStore<kTile, kTypes.result, Writer, kStagesBytes, kTraits.fetches_c>;
  using Exchanged = WgmmaExchangedStore<kTile, kTypes.result, Writer, kStagesBytes>;
  using Rows = WgmmaRowStore<kTile, Writer, kTraits.fetches_c>;
  using Slab = WgmmaEpilogue<kTile, kTraits.vector_c, kTraits.fetches_c>;
  using Place = typename Pipeline::Place;
  using Tiles = ClusterTiles<kTile, ends_with_few_rows(kTile, kTraits.a_row_major, kTraits.vector_c,
                                                       size_bytes(kTypes.result))>;
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
    static_assert(!kStoresBoxes && !kStoresExchanged, "boxes are stored by a tensor map of C");
    run(args, a, b, a);
  }

 private:
  static constexpr bool kStoresBoxes =
      stores_boxes(kTile, kTraits.vector_c, size_bytes(kTypes.result));
  static constexpr bool kStoresExchanged =
      stores_exchanged(kTile, kTraits.vector_c, size_bytes(kTypes.result), kTraits.fetches_c);
  static constexpr bool kStoresRows =
      stores_rows(kTile, kTraits.vector_c, size_bytes(kTypes.result));
  static constexpr bool kFetchesBoxes = kStoresBoxes && kTraits.fetches_c;
  static constexpr int kConsumerWarps = kTile.consumers * kWarpsOfWarpgroup;
  static constexpr bool kIsPingPong = kTile.schedule == kPingPong;

  // Where the results of a consumers' warp pass through, from the results' bytes on: its own part,
  // or that which its consumer's warps share.
  static __device__ constexpr int results_offset(int warp) {
    if constexpr (kStoresExchanged) {
      return warp / kWarpsOfWarpgroup * Exchanged::kBoxes.bytes();
    } else {
      return warp * warp_results_bytes();
    }
  }
  static __device__ constexpr int warp_results_bytes() {
    if constexpr (kStoresBoxes) {
      return Boxes::kBoxes.warp_bytes();
    } else {
      return kResultsBytes / kConsumerWarps;
    }
  }

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
    unsigned char* const own = results + results_offset(warp);
    auto fetch = fetch_of(c, results, own, warp);
    if constexpr (kFetchesBoxes) fetch.begin();
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
      const Writer writer = Writer::of(args, at.batch);
      const auto ahead = load_ahead(writer, at, warp_row(first_row, warp), tile < tiles.count);
      if constexpr (kFetchesBoxes) {
        if (tile < tiles.count && args.beta != 0.0f)
          fetch.start(at.batch, at.row + warp_row(first_row, warp), at.column);
      }
      turns.await();
      if (tile >= tiles.count) {  // some other consumer's round
        turns.pass();
        continue;
      }
      typename Mainloop::Sums sums;
      PromotedSums<Mainloop, Passes>::run(sums, pipeline, ring, place, first_row, tiles_k,
                                          [&] { turns.pass(); });
      if constexpr (kTurns > 1) ring.skip((kTurns - 1) * stages);
      store(sums, own, writer, ahead, fetch, c, at, warp_row(first_row, warp));
      if constexpr (kFetchesBoxes) fetch.end_tile();
    }
    if constexpr (kStoresBoxes) Boxes::finish();
    if constexpr (kStoresExchanged) Exchanged::finish();
  }

  // The first of a warp's rows of wgmma's in the block's tile, where its consumer's begin at
  // `first_row`.
  static __device__ __forceinline__ int warp_row(int first_row, int warp) {
    return first_row + warp % kWarpsOfWarpgroup * 16;
  }

  // What fetches the boxes of a warp; `own` is its shared memory among the `results`.
  static __device__ __forceinline__ auto fetch_of(const TensorMap& c, unsigned char* results,
                                                  unsigned char* own, int warp) {
    if constexpr (kFetchesBoxes) {
      constexpr int kBarriers = kConsumerWarps * warp_results_bytes();
      constexpr int kOwnBarriers = Boxes::kBoxes.all_bytes() - warp_results_bytes();
      return typename Boxes::Fetch{c, shared_address(own),
                                   shared_address(results) + (kBarriers + warp * kOwnBarriers)};
    } else {
      return NoBoxFetch{};
    }
  }

  // What a warp loads of a tile's bias, or of C for slabs, before the tile is multiplied, if it
  // `exists`.
  struct Nothing {};
  static __device__ __forceinline__ auto load_ahead(const Writer& writer, const At& at, int first,
                                                    bool exists) {
    if constexpr (kStoresBoxes) {
      return Boxes::ColumnBias::load(writer, at.column);
    } else if constexpr (kStoresExchanged) {
      return Exchanged::ColumnBias::load(writer, at.column + first);
    } else if constexpr (kStoresRows || !kTraits.fetches_c) {
      return Nothing{};
    } else {
      using Old = decltype(old_of(writer, at, first));
      return exists ? old_of(writer, at, first) : Old{};
    }
  }

  // What C holds of the warp's part of 64 rows of wgmma's from `offset` on.
  static __device__ __forceinline__ auto old_of(const Writer& writer, const At& at, int offset) {
    return Slab::old(writer, at.row + (Mainloop::kExchanged ? 0 : offset),
                     at.column + (Mainloop::kExchanged ? offset : 0));
  }

  // `first` is the warp's first row; `own` is its own shared memory.
  template <class Ahead, class Fetch>
  static __device__ __forceinline__ void store(const typename Mainloop::Sums& sums,
                                               unsigned char* own, const Writer& writer,
                                               const Ahead& ahead, const Fetch& fetch,
                                               const TensorMap& c, const At& at, int first) {
#pragma unroll
    for (int i = 0; i < Mainloop::kRowTiles; ++i) {
      const auto corrected = correction<kOwnTraits, kTypes>(writer.args, at.batch);
      const int offset = first + i * kWgmmaRows;
      const int row = at.row + (Mainloop::kExchanged ? 0 : offset);
      const int column = at.column + (Mainloop::kExchanged ? offset : 0);
      if constexpr (kStoresBoxes) {
        Boxes::store(sums.at[i], own, writer, ahead, c, at.batch, row, column, i, corrected, fetch);
      } else if constexpr (kStoresExchanged) {
        Exchanged::store(sums.at[i], own, writer, ahead, c, at.batch, row, column, i);
      } else if constexpr (kStoresRows) {
        Rows::store(sums.at[i], reinterpret_cast<typename Writer::Element*>(own), writer, row,
                    column);
      } else if constexpr (kTraits.fetches_c) {
        Slab::store(sums.at[i], reinterpret_cast<float*>(own), writer, row, column, corrected,
                    i == 0 ? ahead : old_of(writer, at, offset));
      } else {
        Slab::store(sums.at[i], reinterpret_cast<float*>(own), writer, row, column, corrected);
      }
    }
  }
};

}  // namespace gemmtune
