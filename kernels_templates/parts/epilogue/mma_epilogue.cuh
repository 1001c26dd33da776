#pragma once

#include "parts/epilogue/slab_drain.cuh"
#include "parts/ptx/mma.cuh"
#include "parts/shared/mma_tiles.h"

// Stores a warp's sums.
//
// The lanes of a warp hold pairs of neighbouring columns of 8 rows at a time. Sixteen rows go
// through shared memory, which each warp has a slab of for itself, and leave it as slab_drain.cuh
// says.
//
//     slab: 16 rows of kWarpN + 8 floats; the padding puts the pairs that 16 lanes store at a time
//     into 32 different banks
//
// Rows of the sums may be exchanged (MmaRows); they leave in their own order.

namespace gemmtune {

template <int kWarpN>
struct MmaSlab {
  static constexpr int kStride = slab_row_sums(kWarpN);  // floats
  static constexpr int kBytes = slab_sums(kWarpN) * 4;
};

// Stores a row of column tiles of a warp's sums to `to`, rows of which are kStride floats apart;
// keep(r) says whether row r of the 16 is wanted.
template <int kStride, ElementType kAccumulator, int kColumnTiles, class Keep>
__device__ __forceinline__ void store_sums(const MmaSums<kAccumulator> (&sums)[kColumnTiles],
                                           float* to, Keep keep) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float* first = to + lane / 4 * kStride + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!keep(half * 8 + lane / 4)) continue;
      store_vector<2>(first + half * 8 * kStride + j * 8,
                      {sums[j].get(half, 0), sums[j].get(half, 1)});
    }
  }
}

// Stores the calling warp's sums in a tile at `to` whose rows are kRowFloats apart; rows of C from
// `rows` on, counted from the tile's first, are not wanted.
template <class Mainloop, int kRowFloats>
__device__ __forceinline__ void store_partial_tile(const typename Mainloop::Sums& sums, float* to,
                                                   int rows) {
#pragma unroll
  for (int i = 0; i < Mainloop::kRowTiles; ++i) {
    const int line = Mainloop::warp_row() + i * 16;
    store_sums<kRowFloats>(sums[i], to + line * kRowFloats + Mainloop::warp_column(),
                           [&](int r) { return Mainloop::Rows::row(line / 16, r) < rows; });
  }
}

template <int kVector, int kWarpM, int kWarpN, class Rows>
struct MmaEpilogue {
  static constexpr int kRowTiles = kWarpM / 16;
  static constexpr int kStride = MmaSlab<kWarpN>::kStride;
  using Drain = SlabDrain<kVector, kWarpN, kStride>;

  // Row and column are where the warp's tile starts in C; `slab` is the warp's own. `corrected` is
  // given each sum and the row and column of C it is for.
  template <class Sums, class Writer, class Corrected>
  static __device__ __forceinline__ void store(const Sums& sums, float* slab, const Writer& writer,
                                               int row, int column, Corrected corrected) {
    const auto bias = Drain::bias(writer, column);
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      store_sums<kStride>(sums[i], slab, [](int) { return true; });
      __syncwarp();
      Drain::run(
          slab, writer, [&](int r) { return row + Rows::row(i, r); }, column, bias, corrected);
      __syncwarp();
    }
  }
};

}  // namespace gemmtune
