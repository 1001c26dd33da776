#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/reduce/k_range.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/slice_sum.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/multistage_mainloop.cuh"
#include "parts/simt/thread_tile.cuh"

// sliced_k: multistage with the k of a block's tile of C shared out over `groups` groups of its
// warps, for problems with too few tiles to give every SM several blocks. A group is what a block
// of multistage is: it has a pipeline and a barrier of its own, so that the groups hide each
// other's latencies; but their sums are added in the block's shared memory, not in another's or in
// global memory.
//
//     group 0   k: |  part 0  |             one pipeline a group, time ->
//     group 1              |  part 1  |
//     group 2                      |  part 2  |
//                                              then partial tiles P0 P1 P2 [tile_m][tile_n + 4]
//                                              in shared memory; all threads add them in order
//
// With `slices` > 1, k is shared out over as many blocks as well, and the blocks' sums are added up
// as kTile.reduction says (split_k.cuh): through a workspace, atomically, or in a cluster.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct SlicedK {
  static constexpr int kGroups = kTile.groups;
  static constexpr int kSlices = kTile.slices > 1 ? kTile.slices : 1;
  static constexpr int kGroupThreads = warp_tile_threads(kTile);
  using Group = ThreadGroup<kGroupThreads, kGroups>;
  using Mainloop = MultistageMainloop<kTile, kTraits, Group>;
  using Partial = PartialTile<kTile>;
  using Sum = SliceSum<kTile, kTraits>;
  using Writer = ResultWriter<kTraits.epilogue>;

  static constexpr int kThreads = kGroups * kGroupThreads;
  static constexpr int kGroupFloats =
      Mainloop::kFloats > Partial::kFloats ? Mainloop::kFloats : Partial::kFloats;
  static constexpr int kSmemBytes = kGroups * kGroupFloats * 4;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const int slice = static_cast<int>(blockIdx.x) % kSlices;
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n, kTile.raster>(
        args.m, args.n, static_cast<int>(blockIdx.x) / kSlices);
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    multiply(smem + Group::index() * kGroupFloats, args, at.batch, row, column,
             slice * kGroups + Group::index());
    __syncthreads();
    if constexpr (kSlices == 1) {
      for_each_sum(smem, [&](int v, const FloatVector<4>& sum) {
        store(Writer::of(args, at.batch), row, column, v, sum);
      });
    } else if constexpr (kTile.reduction == kReduceCluster) {
      for_each_sum(smem, [&](int v, const FloatVector<4>& sum) {
        store_vector<4>(smem + Partial::offset_of(v), sum);
      });
      Partial::template sum_in_cluster<kSlices, kThreads, kTraits.vector_c>(
          smem, Writer::of(args, at.batch), row, column, slice);
    } else if constexpr (kTile.reduction == kReduceAtomic) {
      for_each_sum(smem, [&](int v, const FloatVector<4>& sum) {
        add_atomically(c_of(args, at.batch), args, row, column, v, sum);
      });
    } else {
      const GemmArgs dense = Sum::dense(args);
      for_each_sum(smem, [&](int v, const FloatVector<4>& sum) {
        store(typename Sum::PartialWriter{dense, Sum::partial(args, at.batch, slice)}, row, column,
              v, sum);
      });
    }
  }

  static constexpr int kFinishThreads = Sum::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) { Sum::finish(args); }

  static constexpr int kPrepareThreads = Sum::kPrepareThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) { Sum::prepare(args); }

 private:
  static __device__ __forceinline__ float* c_of(const GemmArgs& args, int batch) {
    return static_cast<float*>(args.c) + batch * args.stride_c;
  }

  // Multiplies part `part` of k and stores the group's sums to its own shared memory.
  static __device__ __forceinline__ void multiply(float* smem, const GemmArgs& args, int batch,
                                                  int row, int column, int part) {
    const KRange range = k_range<kTile.tile_k, kGroups * kSlices>(args.k, part);
    ThreadTile<kTile> tile(Group::thread());
    if (!range.empty()) {
      Mainloop::run(tile, smem, args, batch, row, column, range.begin, range.end);
      Group::sync();  // everyone has read the last buffers
    }
    Partial::store(tile, smem, args);
  }

  // Calls f(v, the sum of vector v over the groups in order) for the calling thread's vectors.
  template <class F>
  static __device__ __forceinline__ void for_each_sum(const float* smem, F f) {
    for (int v = static_cast<int>(threadIdx.x); v < Partial::kVectors; v += kThreads) {
      const float* at = smem + Partial::offset_of(v);
      FloatVector<4> sum = load_vector<4>(at);
#pragma unroll
      for (int g = 1; g < kGroups; ++g) {
        const FloatVector<4> x = load_vector<4>(at + g * kGroupFloats);
#pragma unroll
        for (int i = 0; i < 4; ++i) sum.v[i] += x.v[i];
      }
      f(v, sum);
    }
  }

  template <class AnyWriter>
  static __device__ __forceinline__ void store(const AnyWriter& writer, int row, int column, int v,
                                               const FloatVector<4>& sum) {
    const int m = row + Partial::row_of(v);
    if (m < writer.args.m) {
      writer.template store_row<kTraits.vector_c>(sum, m, column + Partial::column_of(v));
    }
  }

  static __device__ __forceinline__ void add_atomically(float* c, const GemmArgs& args, int row,
                                                        int column, int v,
                                                        const FloatVector<4>& sum) {
    const int m = row + Partial::row_of(v);
    if (m >= args.m) return;
    const int n = column + Partial::column_of(v);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (n + i < args.n) atomicAdd(c + m * args.ldc + n + i, args.alpha * sum.v[i]);
    }
  }
};

}  // namespace gemmtune
