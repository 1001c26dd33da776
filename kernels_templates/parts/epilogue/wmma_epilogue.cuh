#pragma once

#include "parts/epilogue/slab_drain.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/wmma.cuh"
#include "parts/shared/mma_tiles.h"

// Stores a warp's sums that are in wmma fragments. Which lane holds
// which sum is the hardware's affair, so 16 rows at a time go through a slab of shared memory, in
// the type of the sums, and leave it as slab_drain.cuh says.
//
//     slab: 16 rows of kWarpN + 8 sums; the padding puts the rows of a fragment into different
//     banks

namespace gemmtune {

template <ElementTypes kTypes, int kVector, int kWarpM, int kWarpN>
struct WmmaEpilogue {
  static constexpr int kStride = slab_row_sums(kWarpN);
  using Sum = typename StoredElement<kTypes.accumulator>::Type;
  static constexpr int kSlabBytes = slab_sums(kWarpN) * static_cast<int>(sizeof(Sum));
  using Drain = SlabDrain<kVector, kWarpN, kStride, 16, kTypes.accumulator>;

  // Row and column are where the warp's tile starts in C; `slab` is the warp's own.
  template <class Sums, class Writer>
  static __device__ __forceinline__ void store(const Sums& sums, unsigned char* slab,
                                               const Writer& writer, int row, int column) {
    const auto bias = Drain::bias(writer, column);
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
      for (int j = 0; j < kWarpN / 16; ++j) {
        wmma::store_matrix_sync(shared_address(slab) + j * (16 * static_cast<int>(sizeof(Sum))),
                                sums[i][j], kStride);
      }
      __syncwarp();
      Drain::run(
          reinterpret_cast<const Sum*>(slab), writer, [&](int r) { return row + i * 16 + r; },
          column, bias);
      __syncwarp();
    }
  }
};

}  // namespace gemmtune
