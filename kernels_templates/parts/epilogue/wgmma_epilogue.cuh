#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/epilogue/slab_drain.cuh"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Stores the sums of a warp of a consumer, 16 of its warpgroup's 64 rows. A lane holds pairs of
// neighbouring columns of wgmma's result, as after mma.sync. They go through a slab of shared
// memory that is the warp's own, in parts of up to 32 columns, and leave it as slab_drain.cuh says.
//
//     C as it is: slab of 16 rows x 32 columns     exchanged: slab of 32 rows x 16 columns,
//                                                  stored transposed

namespace gemmtune {

template <TileConfig kTile, int kVector>
struct WgmmaEpilogue {
  static constexpr WgmmaSlab kSlab{kTile};
  static constexpr bool kExchanged = kTile.exchange != 0;
  static constexpr int kPart = kExchanged ? kSlab.rows : kSlab.columns;  // columns of wgmma's
  static constexpr int kParts = wgmma_tile_columns(kTile) / kPart;
  static constexpr int kAccess = kVector < kSlab.columns ? kVector : kSlab.columns;
  using Drain = SlabDrain<kAccess, kSlab.columns, kSlab.stride, kSlab.rows>;

  // (row, column) is where the warp's 16 rows of wgmma's result, or columns, begin in C.
  // `corrected` is given each sum and the row and column of C it is for.
  template <class Sums, class Writer, class Corrected = AsSummed>
  static __device__ __forceinline__ void store(const Sums& sums, float* slab, const Writer& writer,
                                               int row, int column, Corrected corrected = {}) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      fill(sums, slab, part);
      __syncwarp();
      const int first_row = row + (kExchanged ? part * kPart : 0);
      const int first_column = column + (kExchanged ? 0 : part * kPart);
      const auto bias = Drain::bias(writer, first_column);
      Drain::run(
          slab, writer, [&](int r) { return first_row + r; }, first_column, bias, corrected);
      __syncwarp();
    }
  }

 private:
  template <class Sums>
  static __device__ __forceinline__ void fill(const Sums& sums, float* slab, int part) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = lane / 4;
    const int column = lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < kPart; j += 8) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float first = sums.get(part * kPart + j, half, 0);
        const float second = sums.get(part * kPart + j, half, 1);
        if constexpr (kExchanged) {
          float* const to = slab + (j + column) * kSlab.stride + row + half * 8;
          to[0] = first;
          to[kSlab.stride] = second;
        } else {
          store_vector<2>(slab + (row + half * 8) * kSlab.stride + j + column, {first, second});
        }
      }
    }
  }
};

}  // namespace gemmtune
