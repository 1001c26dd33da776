#pragma once

#include "parts/epilogue/exact_product.cuh"
#include "parts/epilogue/mma_epilogue.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/mma/mma_mainloop.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"

// Partial sums of the tensor-core kernels, f32 whatever the main loop's accumulators were: on their
// way to the other threads or blocks that computed the same tile of C over other parts of k.
//
//     in shared memory    [tile_m][tile_n + 8] floats; the padding puts the pairs that 16 lanes
//                         store at a time into 32 different banks
//     in the workspace    slots of [tile_m][tile_n] floats; rows past the matrix stay unwritten
//
// Rows lie as they were summed, which for some f32 operands is not C's order (MmaRows).
//
// They are read four neighbouring columns, a vector, at a time, and always added up in the same
// order: results are the same in every run.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaPartials {
  using Rows = typename MmaMainloop<kTile, kTraits, kTypes>::Rows;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;
  static constexpr int kStride = mma_partial_row_floats(kTile);  // in shared memory
  static constexpr int kBytes = mma_partial_tile_bytes(kTile);
  static constexpr int kSlotFloats = slot_floats(kTile);
  static constexpr int kRowVectors = kTile.tile_n / kPartialVector;
  static constexpr int kVectors = kTile.tile_m * kRowVectors;

  // Row and first column in the tile, and place in shared memory, of vector v. In a slot it lies at
  // 4 * v.
  static __device__ __forceinline__ int row_of(int v) {
    const int line = v / kRowVectors;
    return Rows::row(line / 16, line % 16);
  }
  static __device__ __forceinline__ int column_of(int v) { return v % kRowVectors * 4; }
  static __device__ __forceinline__ int offset_of(int v) {
    return v / kRowVectors * kStride + column_of(v);
  }

  static __device__ __forceinline__ float* slot(const GemmArgs& args, int index) {
    return static_cast<float*>(args.workspace) + static_cast<long long>(index) * kSlotFloats;
  }

  // Stores a warp's sums, whose tile begins at (row, column) of the block's, in a tile at `to`
  // whose rows are kRowFloats apart; rows from `rows` on are not stored.
  template <int kRowFloats, class Sums>
  static __device__ __forceinline__ void store_sums_of_warp(const Sums& sums, float* to, int row,
                                                            int column, int rows) {
#pragma unroll
    for (int i = 0; i < kTile.warp_m / 16; ++i) {
      const int first = row + i * 16;
      store_sums<kRowFloats>(sums[i], to + first * kRowFloats + column,
                             [&](int r) { return Rows::row(first / 16, r) < rows; });
    }
  }

  // load(0) + load(1) + ... in that order.
  template <int kCount, class Load>
  static __device__ __forceinline__ FloatVector<4> sum(Load load) {
    FloatVector<4> total = load(0);
#pragma unroll
    for (int i = 1; i < kCount; ++i) add(total, load(i));
    return total;
  }

  static __device__ __forceinline__ void add(FloatVector<4>& to, const FloatVector<4>& x) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to.v[i] += x.v[i];
  }

  // Stores the sums over all of k of four columns of C from (m, n) on, as far as C has them.
  static __device__ __forceinline__ void store(const FloatVector<4>& sums, const GemmArgs& args,
                                               int batch, int m, int n) {
    if (m >= args.m) return;
    Writer::of(args, batch)
        .template store_row<kTraits.vector_c>(sums, m, n, correction<kTraits, kTypes>(args, batch));
  }
};

// The kernel that adds up the slots of the workspace; a block does a subtile of a tile
// (partial_tiles.h). Where there are many slots a tile, `ways` groups of warps take them in
// turn, and their sums are added in order.
//
//     ways = 4, of tile t:   warps 0-1  slots 0 4 8 ..  |  warps 2-3  slots 1 5 9 ..  |  ...
//
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct MmaFinish {
  using Partials = MmaPartials<kTile, kTraits, kTypes>;
  static constexpr int kThreads = kMmaFinishThreads;
  static constexpr int kAtOnce = 4;  // slots that a thread waits for at once

  // Subtile `subtile` of the tile at `at`; slot_of(i) is the i-th of its `slots` slots.
  template <class SlotOf>
  static __device__ __forceinline__ void run(const GemmArgs& args, const TileCoordinates& at,
                                             int subtile, int ways, int slots, SlotOf slot_of) {
    __shared__ __align__(16) float sums[kThreads * 4];
    const int thread = static_cast<int>(threadIdx.x);
    const int vectors = kThreads / ways;
    const int way = thread / vectors;
    const int v = subtile * vectors + thread % vectors;
    const int m = at.row * kTile.tile_m + Partials::row_of(v);
    const int n = at.column * kTile.tile_n + Partials::column_of(v);
    const bool inside = v < Partials::kVectors && m < args.m && n < args.n;
    FloatVector<4> sum = {};
    for (int i = way; i < slots; i += kAtOnce * ways) {
      FloatVector<4> loaded[kAtOnce] = {};
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int s = i + j * ways;
        if (inside && s < slots) {
          loaded[j] = load_vector<4>(Partials::slot(args, slot_of(s)) + 4 * v);
        }
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) Partials::add(sum, loaded[j]);
    }
    if (ways > 1) {
      store_vector<4>(sums + 4 * thread, sum);
      __syncthreads();
      if (way > 0) return;
      for (int w = 1; w < ways; ++w) {
        Partials::add(sum, load_vector<4>(sums + 4 * (w * vectors + thread)));
      }
    }
    if (inside) Partials::store(sum, args, at.batch, m, n);
  }
};

}  // namespace gemmtune
