#pragma once

#include "parts/operand/k_major_copy.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/direct_block.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/k_major_lines.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/cluster_tiles.cuh"
#include "parts/wgmma/direct_block.cuh"
#include "parts/wgmma/direct_producer.cuh"
#include "parts/wgmma/direct_tf32_operand.cuh"
#include "parts/wgmma/wgmma_mainloop.cuh"
#include "parts/wgmma/wgmma_partial.cuh"
#include "parts/wgmma/wgmma_pipeline.cuh"

// wgmma_direct_split_k: wgmma_direct_tf32 with the k of every tile of C shared out over `slices`
// clusters, for a long k whose tiles alone do not fill the card. Their sums meet in the workspace,
// where a further kernel, finish(), adds them up (parts/reduce/reduction.cuh).
//
//     cluster c computes the tiles of C of cluster c / slices over slice c % slices of k
//
//     workspace: | copy of the other operand, if it needs one | slots, a tile's slices together |

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaDirectSplitK {
  using Direct = DirectTf32<kTile, kTraits>;
  static constexpr KernelTraits kCopied = without_direct(kTile, kTraits);
  static constexpr KernelTraits kAligned = KMajorOperands<kTraits>::kAligned;
  using Partial = PartialTile<kTile, kMmaPartialPadding>;
  using Reduction = SliceReduction<kTile, kTraits, kTypes, Partial>;
  static constexpr int kSlices = Reduction::kSlices;
  static_assert(Reduction::kInWorkspace, "clusters share tiles, not sums");

  // A cluster's slice of its tiles, the only one that it computes.
  struct Slices {
    using Whole = ClusterTiles<kTile, kTraits.epilogue.scale, false>;
    using At = typename Whole::At;
    using Place = typename Whole::Place;
    // Few blocks read the same lines, which would mostly come from memory.
    static constexpr int kStagesAhead = 4;
    int count;
    int step;

    // None for a block whose slice is empty.
    static __device__ __forceinline__ Slices of(const GemmArgs& args) {
      const int count = Whole::of(args).count * kSlices;
      return {range(args, first()).empty() ? 0 : count, count};
    }
    static __device__ __forceinline__ int first() { return Whole::first(); }
    static __device__ __forceinline__ At at(const GemmArgs& args, const Place& place, int slice) {
      return At::of(args, place, slice / kSlices);
    }
    static __device__ __forceinline__ KRange range(const GemmArgs& args, int slice) {
      return k_range<kTile.tile_k, kSlices>(args.k, slice % kSlices);
    }
    static __device__ __forceinline__ int begin(const GemmArgs& args, int slice) {
      return range(args, slice).begin;
    }
    static __device__ __forceinline__ int end(const GemmArgs& args, int slice) {
      return (range(args, slice).end + kTile.tile_k - 1) / kTile.tile_k * kTile.tile_k;
    }
  };

  using Pipeline = WgmmaPipeline<kTile, kAligned, kTypes, 0>;
  using Mainloop = WgmmaMainloop<kTile, Pipeline>;
  using Producer = DirectProducer<kTile, Direct, Pipeline, Slices>;

  static constexpr int kThreads = direct_threads(kTile);
  static constexpr int kSmemBytes = Pipeline::kSmemBytes;

  // By the map of the operand that TMA copies.
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& copied) {
    DirectBlock<Pipeline, Producer, kThreads, Direct::kRegisters>::run(
        args, copied, [&](const Pipeline& pipeline, unsigned char*) { consume(pipeline, args); });
  }

  static constexpr int kPrepareThreads = kKMajorThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    KMajorOperands<kCopied>::prepare(args);
  }

  static constexpr int kFinishThreads = Reduction::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    Reduction::finish(behind_copy(args));
  }

 private:
  // With the part of the workspace that has the slots.
  static __device__ __forceinline__ GemmArgs behind_copy(const GemmArgs& args) {
    GemmArgs out = args;
    auto* workspace = static_cast<float*>(args.workspace);
    if constexpr (needs_k_major_a(kCopied))
      workspace += KMajorLines(args.m, args.k, args.stride_a, args.batch).elements();
    if constexpr (needs_k_major_b(kCopied))
      workspace += KMajorLines(args.n, args.k, args.stride_b, args.batch).elements();
    out.workspace = workspace;
    return out;
  }

  // The slot of the block's tile at (row, column) of C. Tiles beyond C's last one have none: of
  // theirs no row is stored.
  static __device__ __forceinline__ float* slot(const GemmArgs& args, int batch, int row,
                                                int column, int slice) {
    const int rows = (args.m + kTile.tile_m - 1) / kTile.tile_m;
    const int columns = (args.n + kTile.tile_n - 1) / kTile.tile_n;
    const int tile = (batch * rows + row / kTile.tile_m) * columns + column / kTile.tile_n;
    return Reduction::Slots::slot(behind_copy(args), tile * kSlices + slice);
  }

  static __device__ __forceinline__ void consume(const Pipeline& pipeline, const GemmArgs& args) {
    const int first = Slices::first();
    const auto place = Pipeline::Place::of_block();
    const auto at = Slices::at(args, place, first);
    const KRange range = Slices::range(args, first);
    const int warp = static_cast<int>(threadIdx.x) / 32 - kDirectProducerWarps;
    const int first_row = warp / kWarpsOfWarpgroup * consumer_rows(kTile);
    await_kernels_before();
    typename Mainloop::Sums sums;
    if (range.empty()) {
      sums.clear();
    } else {
      typename Pipeline::Ring ring;
      const int tiles = (range.end - range.begin + kTile.tile_k - 1) / kTile.tile_k;
      Mainloop::run(sums, pipeline, ring, place, first_row, tiles, [] {});
    }
    const int rows = at.column < args.n ? args.m - at.row : 0;
    store_wgmma_partial<Mainloop, kTile.tile_n>(
        sums, slot(args, at.batch, at.row, at.column, first % kSlices),
        first_row + warp % kWarpsOfWarpgroup * 16, rows);
  }
};

}  // namespace gemmtune
