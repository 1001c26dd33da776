#pragma once

#include "parts/epilogue/exact_product.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/epilogue/wgmma_box_store.cuh"
#include "parts/epilogue/wgmma_epilogue.cuh"
#include "parts/epilogue/wgmma_exchanged_store.cuh"
#include "parts/epilogue/wgmma_row_store.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// How a consumer's warp turns sums of a tile into results in C: wgmma_box_store.cuh and
// wgmma_exchanged_store.cuh (by TMA), wgmma_row_store.cuh (rows of a 16-bit C that begin anywhere)
// or wgmma_epilogue.cuh (any others).
//
// kTraits are of the operands as they are multiplied, kOwnTraits of the problem's own.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, KernelTraits kOwnTraits,
          class Mainloop, int kStagesBytes>
struct WgmmaResults {
  static constexpr bool kStoresBoxes =
      stores_boxes(kTile, kTraits.vector_c, size_bytes(kTypes.result));
  static constexpr bool kStoresExchanged =
      stores_exchanged(kTile, kTraits.vector_c, size_bytes(kTypes.result), kTraits.fetches_c);
  static constexpr bool kFetchesBoxes = kStoresBoxes && kTraits.fetches_c;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;

  // The first of a warp's rows of wgmma's in the block's tile, where its consumer's begin at
  // `first_row`.
  static __device__ __forceinline__ int warp_row(int first_row, int warp) {
    return first_row + warp % kWarpsOfWarpgroup * 16;
  }

  // Where the results of a consumers' warp pass through, from the results' bytes on: its own part,
  // or that which its consumer's warps share.
  static __device__ constexpr int offset(int warp) {
    if constexpr (kStoresExchanged) {
      return warp / kWarpsOfWarpgroup * Exchanged::kBoxes.bytes();
    } else {
      return warp * warp_bytes();
    }
  }

  // What fetches the boxes of a warp; `own` is its shared memory among the `results`.
  static __device__ __forceinline__ auto fetch_of(const TensorMap& c, unsigned char* results,
                                                  unsigned char* own, int warp) {
    if constexpr (kFetchesBoxes) {
      constexpr int kBarriers = kConsumerWarps * warp_bytes();
      constexpr int kOwnBarriers = Boxes::kBoxes.all_bytes() - warp_bytes();
      return typename Boxes::Fetch{c, shared_address(own),
                                   shared_address(results) + (kBarriers + warp * kOwnBarriers)};
    } else {
      return NoBoxFetch{};
    }
  }

  // What a warp loads of a tile's bias, or of C for slabs, before the tile is multiplied, if it
  // `exists`.
  template <class At>
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

  // `first` is the warp's first row; `own` is its own shared memory.
  template <class Ahead, class Fetch, class At>
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

  // By each warp, after its last tile.
  static __device__ __forceinline__ void finish() {
    if constexpr (kStoresBoxes) Boxes::finish();
    if constexpr (kStoresExchanged) Exchanged::finish();
  }

 private:
  static constexpr int kResultsBytes = wgmma_results_bytes(
      kTile, kTraits.vector_c, size_bytes(kTypes.result), kStagesBytes, kTraits.fetches_c);
  static constexpr bool kStoresRows =
      stores_rows(kTile, kTraits.vector_c, size_bytes(kTypes.result));
  static constexpr int kConsumerWarps = kTile.consumers * kWarpsOfWarpgroup;
  using Boxes = WgmmaBoxStore<kTile, kTypes.result, Writer, kStagesBytes, kTraits.fetches_c>;
  using Exchanged = WgmmaExchangedStore<kTile, kTypes.result, Writer, kStagesBytes>;
  using Rows = WgmmaRowStore<kTile, Writer, kTraits.fetches_c>;
  using Slab = WgmmaEpilogue<kTile, kTraits.vector_c, kTraits.fetches_c>;
  struct Nothing {};

  static __device__ constexpr int warp_bytes() {
    if constexpr (kStoresBoxes) {
      return Boxes::kBoxes.warp_bytes();
    } else {
      return kResultsBytes / kConsumerWarps;
    }
  }

  // What C holds of the warp's part of 64 rows of wgmma's from `offset` on.
  template <class At>
  static __device__ __forceinline__ auto old_of(const Writer& writer, const At& at, int offset) {
    return Slab::old(writer, at.row + (Mainloop::kExchanged ? 0 : offset),
                     at.column + (Mainloop::kExchanged ? offset : 0));
  }
};

}  // namespace gemmtune
