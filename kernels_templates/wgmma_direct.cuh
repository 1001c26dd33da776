#pragma once

#include "parts/epilogue/box_fetch.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/epilogue/wgmma_box_store.cuh"
#include "parts/epilogue/wgmma_epilogue.cuh"
#include "parts/epilogue/wgmma_row_store.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/shared/direct_block.h"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/direct_block.cuh"
#include "parts/wgmma/direct_operand.cuh"
#include "parts/wgmma/direct_producer.cuh"
#include "parts/wgmma/wgmma_mainloop.cuh"
#include "parts/wgmma/wgmma_pipeline.cuh"

// wgmma_direct: GEMM on Hopper's tensor cores (sm_90a) where 16 bytes do not divide one of two
// 16-bit operands, which TMA cannot copy then. The warpgroups that fill the stages load that one
// themselves and lay it out as TMA would (direct_producer.cuh), so that no copy of it is made in
// memory. Consumers are those of wgmma_tma.cuh, which compute a tile together.

namespace gemmtune {

// The kernel, of tiles that lie in shared memory as kTraits says, with what Direct has threads load
// (direct_producer.cuh).
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, class Direct>
struct DirectGemm {
  static constexpr int kStagesBytes =
      kTile.stages *
      wgmma_stage_bytes(kTile, kTraits.a_row_major, !kTraits.b_row_major, multiplied_bytes(kTypes));
  static constexpr int kResultsBytes =
      wgmma_results_bytes(kTile, kTraits.vector_c, size_bytes(kTypes.result), kStagesBytes, false);
  using Pipeline = WgmmaPipeline<kTile, kTraits, kTypes, kResultsBytes>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;
  using Tiles = DirectTiles<kTile, kTraits, kTypes, Direct::kIsA>;
  using Producer = DirectProducer<kTile, Direct, Pipeline, Tiles>;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;
  using Boxes = WgmmaBoxStore<kTile, kTypes.result, Writer, kStagesBytes, false>;
  using Rows = WgmmaRowStore<kTile, Writer, false>;
  using Slab = WgmmaEpilogue<kTile, kTraits.vector_c, false>;

  static constexpr int kThreads = direct_threads(kTile);
  static constexpr int kSmemBytes = Pipeline::kSmemBytes;
  static constexpr DirectRegisters kRegisters = Direct::kRegisters;

  // By the map of the operand that TMA copies, and that of C, if boxes are stored.
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& copied,
                                             const TensorMap& c) {
    DirectBlock<Pipeline, Producer, kThreads, kRegisters>::run(
        args, copied, [&](const Pipeline& pipeline, unsigned char* results) {
          consume(pipeline, args, c, results);
        });
  }

  // Where others are stored.
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& copied) {
    static_assert(!kStoresBoxes, "boxes are stored by a tensor map of C");
    run(args, copied, copied);
  }

 private:
  static constexpr bool kStoresBoxes =
      stores_boxes(kTile, kTraits.vector_c, size_bytes(kTypes.result));
  static constexpr bool kStoresRows =
      stores_rows(kTile, kTraits.vector_c, size_bytes(kTypes.result));
  static constexpr int kConsumerWarps = kTile.consumers * kWarpsOfWarpgroup;

  static __device__ constexpr int warp_results_bytes() {
    if constexpr (kStoresBoxes) {
      return Boxes::kBoxes.warp_bytes();
    } else {
      return kResultsBytes / kConsumerWarps;
    }
  }

  static __device__ __forceinline__ void consume(const Pipeline& pipeline, const GemmArgs& args,
                                                 const TensorMap& c, unsigned char* results) {
    const auto tiles = Tiles::of(args);
    const int tiles_k = (args.k + kTile.tile_k - 1) / kTile.tile_k;
    const int warp = static_cast<int>(threadIdx.x) / 32 - kDirectProducerWarps;
    const int first_row = warp / kWarpsOfWarpgroup * consumer_rows(kTile);
    unsigned char* const own = results + warp * warp_results_bytes();
    const auto place = Pipeline::Place::of_block();
    typename Pipeline::Ring ring;
    await_kernels_before();
    for (int tile = Tiles::first(); tile < tiles.count; tile += tiles.step) {
      const auto at = Tiles::At::of(args, place, tile);
      const Writer writer = Writer::of(args, at.batch);
      const int row = at.row + first_row + warp % kWarpsOfWarpgroup * 16;
      const auto bias = load_bias(writer, at.column);
      typename Mainloop::Sums sums;
      Mainloop::run(sums, pipeline, ring, place, first_row, tiles_k, [] {});
      store(sums, own, writer, bias, c, at.batch, row, at.column);
    }
    if constexpr (kStoresBoxes) Boxes::finish();
  }

  struct Nothing {};
  static __device__ __forceinline__ auto load_bias(const Writer& writer, int column) {
    if constexpr (kStoresBoxes) {
      return Boxes::ColumnBias::load(writer, column);
    } else {
      return Nothing{};
    }
  }

  // `row` is the warp's first one in C; `own` is its own shared memory.
  template <class Bias>
  static __device__ __forceinline__ void store(const typename Mainloop::Sums& sums,
                                               unsigned char* own, const Writer& writer,
                                               const Bias& bias, const TensorMap& c, int batch,
                                               int row, int column) {
#pragma unroll
    for (int i = 0; i < Mainloop::kRowTiles; ++i) {
      const int first = row + i * kWgmmaRows;
      if constexpr (kStoresBoxes) {
        Boxes::store(sums.at[i], own, writer, bias, c, batch, first, column, i, AsSummed{},
                     NoBoxFetch{});
      } else if constexpr (kStoresRows) {
        Rows::store(sums.at[i], reinterpret_cast<typename Writer::Element*>(own), writer, first,
                    column);
      } else {
        Slab::store(sums.at[i], reinterpret_cast<float*>(own), writer, first, column, AsSummed{});
      }
    }
  }
};

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaDirect : DirectGemm<kTile, kTraits, kTypes, DirectHalves<kTile, kTraits>> {};

}  // namespace gemmtune
