#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/stmatrix.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Stores the sums of a warp of a consumer by TMA, where rows of a 16-bit C are whole 16 bytes: 16
// of its warpgroup's 64 rows, in boxes of as many columns as WgmmaBoxes says. Results are finished
// in registers, as pairs of neighbouring columns.
//
//     registers  --stmatrix-->  box of 16 rows  --TMA-->  C
//
// TMA reads one buffer of the warp while the other one, if there are two, is filled, and the last
// ones while the next tile is multiplied.

namespace gemmtune {

template <TileConfig kTile, class Writer, int kStagesBytes>
struct WgmmaBoxStore {
  static constexpr WgmmaBoxes kBoxes{kTile, kStagesBytes};
  static constexpr int kAcross = kTile.tile_n / kBoxes.columns;

  // The bias of a tile's columns, as pairs shared out over the lanes of a warp: loaded before the
  // tile is multiplied, so that nobody waits for it afterwards.
  struct ColumnBias {
    static constexpr int kPairs = Writer::kHasColumnBias ? (kTile.tile_n + 63) / 64 : 1;
    unsigned pairs[kPairs] = {};

    static __device__ __forceinline__ ColumnBias load(const Writer& writer, int column) {
      ColumnBias out;
      if constexpr (Writer::kHasColumnBias) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          const int n = column + (i * 32 + static_cast<int>(threadIdx.x) % 32) * 2;
          if (n < writer.args.n) out.pairs[i] = writer.template column_bias<2>(n).elements.words[0];
        }
      }
      return out;
    }

    // Of the lane's pair of the 8 columns from `from` on.
    __device__ __forceinline__ FloatVector<2> of(int from) const {
      typename Writer::template BiasVector<2> pair = {};
      const int lane = static_cast<int>(threadIdx.x) % 4 + from / 2 % 32;
      pair.elements.words[0] = __shfl_sync(0xffffffffu, pairs[from / 64], lane);
      return {pair.get(0), pair.get(1)};
    }
  };

  // (row, column) is where the warp's 16 rows of wgmma's result begin in C; `index` counts the
  // calls for a tile of C.
  template <class Sums>
  static __device__ __forceinline__ void store(const Sums& sums, unsigned char* buffers,
                                               const Writer& writer, const ColumnBias& bias,
                                               const TensorMap& c, int batch, int row, int column,
                                               int index) {
    const bool leads = threadIdx.x % 32 == 0;
    const int m = row + static_cast<int>(threadIdx.x) % 32 / 4;
    float of_rows[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (m + half * 8 < writer.args.m) of_rows[half] = writer.row_bias(m + half * 8);
    }
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int count = index * kAcross + i;
      const unsigned buffer = shared_address(buffers) + count % kBoxes.buffers * kBoxes.bytes();
      if (leads) {
        if (count == 0) {
          wait_for_stored_boxes<0>();
        } else {
          wait_for_stored_boxes<kBoxes.buffers - 1>();
        }
      }
      __syncwarp();
      if (writer.args.beta != 0.0f) {
        fill<true>(sums, buffer, writer, bias, of_rows, m, column, i);
      } else {
        fill<false>(sums, buffer, writer, bias, of_rows, m, column, i);
      }
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
  // What C holds where the lane has sums of 8 columns: pairs of rows m and m + 8. Zeros where C
  // ends.
  struct OldPairs {
    HalfVector<2> at[2] = {};

    __device__ __forceinline__ void load(const Writer& writer, int m, int n) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = m + half * 8;
        if (row < writer.args.m && n < writer.args.n)
          at[half] = load_halves<2>(writer.c + row * writer.args.ldc + n);
      }
    }
  };

  // Finishes the columns of box i and lays them out in `buffer`, 16 at a time. m is the lane's
  // first row.
  template <bool kReadsC, class Sums>
  static __device__ __forceinline__ void fill(const Sums& sums, unsigned buffer,
                                              const Writer& writer, const ColumnBias& bias,
                                              const float (&of_rows)[2], int m, int column, int i) {
#pragma unroll
    for (int j = 0; j + 16 <= kBoxes.columns; j += 16)
      fill_eights<kReadsC, 2>(sums, buffer, writer, bias, of_rows, m, column, i, j);
    if constexpr (kBoxes.columns % 16 != 0)
      fill_eights<kReadsC, 1>(sums, buffer, writer, bias, of_rows, m, column, i,
                              kBoxes.columns - 8);
  }

  // The same of kEights times 8 columns of the box, from column j on.
  template <bool kReadsC, int kEights, class Sums>
  static __device__ __forceinline__ void fill_eights(const Sums& sums, unsigned buffer,
                                                     const Writer& writer, const ColumnBias& bias,
                                                     const float (&of_rows)[2], int m, int column,
                                                     int i, int j) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int from = i * kBoxes.columns + j;  // of wgmma's columns
    unsigned words[2 * kEights];
#pragma unroll
    for (int eight = 0; eight < kEights; ++eight) {
      const int at = from + eight * 8;
      OldPairs old;
      if constexpr (kReadsC) {
        __syncwarp();  // keeps later columns' loads behind it: for all at once registers are too
                       // few
        old.load(writer, m, column + at + lane % 4 * 2);
      }
      FloatVector<2> of_columns = {};
      if constexpr (Writer::kHasColumnBias) of_columns = bias.of(at);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const FloatVector<2> of_row = {of_rows[half], of_rows[half]};
        words[eight * 2 + half] = writer.template pair<kReadsC>(
            {sums.get(at, half, 0), sums.get(at, half, 1)}, old.at[half],
            Writer::kHasColumnBias ? of_columns : of_row);
      }
    }
    // What the lane tells stmatrix: the place of row lane % 16 in columns 0-7, or in 8-15.
    const int line = lane % 16;
    const int chunk = j / WgmmaBoxes::kUnit + (kEights > 1 ? lane / 16 : 0);
    store_matrices(buffer + line * kBoxes.line_bytes() + (swizzled(chunk, line) << 4), words);
  }

  // Where 16 bytes of a line lie, as TMA expects them.
  static __device__ __forceinline__ int swizzled(int chunk, int line) {
    if constexpr (!kBoxes.swizzled()) return chunk;
    constexpr int kChunks = kBoxes.line_bytes() / 16;
    return chunk ^ line * kBoxes.line_bytes() / kTmaLineBytes % kChunks;
  }
};

}  // namespace gemmtune
