#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/stmatrix.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Stores the sums of a warp of a consumer by TMA, where rows of a 16-bit C are whole 16 bytes: 16
// of its warpgroup's 64 rows, in boxes of up to 64 columns. Results are finished in registers, as
// pairs of neighbouring columns.
//
//     registers  --stmatrix-->  box 16 rows x 64 columns, swizzled  --TMA-->  C
//
// TMA reads one buffer of the warp while the other one is filled, and the last ones while the next
// tile is multiplied.

namespace gemmtune {

template <TileConfig kTile>
struct WgmmaBoxStore {
  static constexpr WgmmaBoxes kBoxes{kTile};
  static constexpr int kAcross = kTile.tile_n / kBoxes.columns;

  // (row, column) is where the warp's 16 rows of wgmma's result begin in C; `index` counts the
  // calls for a tile of C.
  template <class Sums, class Writer>
  static __device__ __forceinline__ void store(const Sums& sums, unsigned char* buffers,
                                               const Writer& writer, const TensorMap& c, int batch,
                                               int row, int column, int index) {
    const bool leads = threadIdx.x % 32 == 0;
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int count = index * kAcross + i;
      const unsigned buffer =
          shared_address(buffers) + count % WgmmaBoxes::kBuffers * kBoxes.bytes();
      if (leads) {
        if (count == 0) {
          wait_for_stored_boxes<0>();
        } else {
          wait_for_stored_boxes<WgmmaBoxes::kBuffers - 1>();
        }
      }
      __syncwarp();
      fill(sums, buffer, writer, row, column, i);
      tensor_store_fence();
      __syncwarp();
      if (leads) store_box(c, column + i * kBoxes.columns, row, batch, buffer);
    }
  }

  // By each warp, before its block ends.
  static __device__ __forceinline__ void finish() {
    if (threadIdx.x % 32 == 0) wait_for_stored_boxes<0>();
  }

 private:
  // Finishes the columns of box i and lays them out in `buffer`, 16 at a time.
  template <class Sums, class Writer>
  static __device__ __forceinline__ void fill(const Sums& sums, unsigned buffer,
                                              const Writer& writer, int row, int column, int i) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int m = row + lane / 4;
    const int pair = lane % 4 * 2;
    // What the lane tells stmatrix: the place of row lane % 16 in columns 0-7, or in 8-15.
    const int line = lane % 16;
    const unsigned to = buffer + line * kBoxes.line_bytes();
#pragma unroll
    for (int j = 0; j < kBoxes.columns; j += 16) {
      unsigned words[4];
#pragma unroll
      for (int eight = 0; eight < 2; ++eight) {
        const int from = i * kBoxes.columns + j + eight * 8;  // of wgmma's columns
        const int n = column + from + pair;
        typename Writer::template BiasVector<2> bias = {};
        if (n < writer.args.n) bias = writer.template column_bias<2>(n);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          words[eight * 2 + half] =
              writer.pair(sums.get(from, half, 0), sums.get(from, half, 1), m + half * 8, n, bias);
        }
      }
      store_matrices(to + (swizzled(j / 8 + lane / 16, line) << 4), words);
    }
  }

  // Where 16 bytes of a line lie, as TMA expects them: swizzled over the width of the box.
  static __device__ __forceinline__ int swizzled(int chunk, int line) {
    constexpr int kChunks = kBoxes.line_bytes() / 16;
    return chunk ^ line * kBoxes.line_bytes() / kTmaLineBytes % kChunks;
  }
};

}  // namespace gemmtune
