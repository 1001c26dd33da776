#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/slice_sum.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/double_buffer_mainloop.cuh"
#include "parts/simt/multistage_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// split_k: double_buffer (copies through registers) or multistage (by cp.async) with the k of every
// tile of C shared out over `slices` blocks, for problems whose tiles alone do not fill the card
// (small m and n, tall k).
//
//     block b computes tile b / slices of C over slice b % slices of k:
//
//     k:  |  slice 0  |  slice 1  |  slice 2  |      partial tiles P0, P1, P2 of one tile of C
//
// How they are added up (kTile.reduction):
//
//   workspace   Every block stores its partial tile to workspace[slice][batch][m][n]; a second
//   kernel,
//               finish(), sums the slices in order and applies alpha and beta. Deterministic.
//
//   atomic      prepare() first scales C by beta; every block then adds alpha * P by red.add. The
//   order of
//               the additions varies, so results may differ in the last bits from run to run.
//
//   cluster     The slices of a tile are one cluster (sm_90 and up): each block stores its partial
//   tile in
//               its own shared memory, and after a cluster barrier sums one part of the tile over
//               all blocks, in order. Deterministic, one launch, no workspace.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, bool kThroughRegisters>
struct SplitKMainloop {
  using Type = MultistageMainloop<kTile, kTraits>;
};
template <TileConfig kTile, KernelTraits kTraits>
struct SplitKMainloop<kTile, kTraits, true> {
  using Type = DoubleBufferMainloop<kTile, kTraits>;
};

template <TileConfig kTile, KernelTraits kTraits>
struct SplitK {
  using Mainloop = typename SplitKMainloop<kTile, kTraits, kTile.copy == kCopyRegisters>::Type;
  using Tile = ThreadTile<kTile>;
  using Partial = PartialTile<kTile>;
  using Sum = SliceSum<kTile, kTraits>;

  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr int kSlices = kTile.slices;
  static constexpr int kPartialBytes = kTile.reduction == kReduceCluster ? Partial::kFloats * 4 : 0;
  static constexpr int kSmemBytes =
      Mainloop::kSmemBytes > kPartialBytes ? Mainloop::kSmemBytes : kPartialBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const int slice = static_cast<int>(blockIdx.x) % kSlices;
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n, kTile.raster>(
        args.m, args.n, static_cast<int>(blockIdx.x) / kSlices);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    const KRange range = k_range<kTile.tile_k, kSlices>(args.k, slice);
    Tile tile;
    if (!range.empty()) {
      Mainloop::run(tile, smem, args, at.batch, row, column, range.begin, range.end);
    }
    if constexpr (kTile.reduction == kReduceCluster) {
      reduce_in_cluster(tile, smem, args, at.batch, row, column, slice);
    } else if constexpr (kTile.reduction == kReduceAtomic) {
      add_atomically(tile, args, at.batch, row, column);
    } else {
      store_partial(tile, args, at.batch, row, column, slice);
    }
  }

  static constexpr int kFinishThreads = Sum::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) { Sum::finish(args); }

  static constexpr int kPrepareThreads = Sum::kPrepareThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) { Sum::prepare(args); }

 private:
  static __device__ __forceinline__ void store_partial(const Tile& tile, const GemmArgs& args,
                                                       int batch, int row, int column, int slice) {
    const GemmArgs dense = Sum::dense(args);
    const typename Sum::PartialWriter writer{dense, Sum::partial(args, batch, slice)};
    store_thread_tile<kTraits.vector_c>(tile, writer, row, column);
  }

  static __device__ __forceinline__ void add_atomically(const Tile& tile, const GemmArgs& args,
                                                        int batch, int row, int column) {
    float* c = static_cast<float*>(args.c) + batch * args.stride_c;
#pragma unroll
    for (int i = 0; i < Tile::kM; ++i) {
      const int m = row + tile.row + Tile::row_offset(i);
      if (m >= args.m) continue;
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j) {
        const int n = column + tile.column + Tile::column_offset(j);
        if (n < args.n) atomicAdd(c + m * args.ldc + n, args.alpha * tile.acc[i][j]);
      }
    }
  }

  static __device__ __forceinline__ void reduce_in_cluster(const Tile& tile, float* smem,
                                                           const GemmArgs& args, int batch, int row,
                                                           int column, int slice) {
    __syncthreads();  // everyone has read the last buffers
    Partial::store(tile, smem, args);
    Partial::template sum_in_cluster<kSlices, kThreads, kTraits.vector_c>(
        smem, ResultWriter<kTraits.epilogue>::of(args, batch), row, column, slice);
  }
};

}  // namespace gemmtune
