#pragma once

#include "parts/ptx/vector_access.cuh"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// A consumer's sums over a part of k as part of the block's tile of sums (partial_tile.cuh).

namespace gemmtune {

// Stores the calling warp's sums, from row `first` of wgmma's result on, in a tile at `to` whose
// rows are kRowFloats apart; rows of C from `rows` on, counted from the tile's first, are not
// wanted.
template <class Mainloop, int kRowFloats>
__device__ __forceinline__ void store_wgmma_partial(const typename Mainloop::Sums& sums, float* to,
                                                    int first, int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < Mainloop::kRowTiles; ++i) {
#pragma unroll
    for (int j = 0; j < Mainloop::kColumns; j += 8) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int line = first + i * kWgmmaRows + half * 8 + lane / 4;
        const int column = j + lane % 4 * 2;
        const FloatVector<2> pair = {sums.at[i].get(j, half, 0), sums.at[i].get(j, half, 1)};
        if constexpr (Mainloop::kExchanged) {
          if (column < rows) to[column * kRowFloats + line] = pair.v[0];
          if (column + 1 < rows) to[(column + 1) * kRowFloats + line] = pair.v[1];
        } else if (line < rows) {
          store_vector<2>(to + line * kRowFloats + column, pair);
        }
      }
    }
  }
}

}  // namespace gemmtune
