#pragma once

#include "parts/epilogue/box_fetch.cuh"
#include "parts/epilogue/box_lines.cuh"
#include "parts/epilogue/old_lines.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/elect.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// Stores the sums of a warp of a consumer by TMA, where rows of C are whole 16 bytes: 16 of its
// warpgroup's 64 rows, in boxes of as many columns as WgmmaBoxes says. Results are finished in
// registers, as pairs of neighbouring columns.
//
//     registers  --box_lines.cuh-->  box of 16 rows  --TMA-->  C
//
// TMA reads one buffer of the warp while the other one, if there are two, is filled, and the last
// ones while the next tile is multiplied. What C holds is read through the same buffer when the box
// is stored, or is there already with kFetchesC (box_fetch.cuh).

namespace gemmtune {

template <TileConfig kTile, ElementType kResult, class Writer, int kStagesBytes, bool kFetchesC>
struct WgmmaBoxStore {
  static constexpr WgmmaBoxes kBoxes{kTile, size_bytes(kResult), kStagesBytes, kFetchesC};
  static constexpr int kAcross = kTile.tile_n / kBoxes.columns;
  using Fetch = BoxFetch<kBoxes, kAcross, consumer_rows(kTile) / kWgmmaRows * kAcross>;
  using Lines = BoxLines<kResult, kBoxes>;

  // The bias of a tile's columns, as pairs shared out over the lanes of a warp: loaded before the
  // tile is multiplied, so that nobody waits for it afterwards.
  struct ColumnBias {
    static constexpr int kPairs = Writer::kHasColumnBias ? (kTile.tile_n + 63) / 64 : 1;
    typename Writer::template BiasVector<2> pairs[kPairs] = {};

    static __device__ __forceinline__ ColumnBias load(const Writer& writer, int column) {
      ColumnBias out;
      if constexpr (Writer::kHasColumnBias) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          const int n = column + (i * 32 + static_cast<int>(threadIdx.x) % 32) * 2;
          if (n < writer.args.n) out.pairs[i] = writer.template column_bias<2>(n);
        }
      }
      return out;
    }

    // Of the lane's pair of the 8 columns from `from` on.
    __device__ __forceinline__ FloatVector<2> of(int from) const {
      auto pair = pairs[from / 64];
      const int lane = static_cast<int>(threadIdx.x) % 4 + from / 2 % 32;
      if constexpr (kResult == kF32) {
#pragma unroll
        for (int v = 0; v < 2; ++v)
          pair.elements.v[v] = __shfl_sync(0xffffffffu, pair.elements.v[v], lane);
      } else {
        pair.elements.words[0] = __shfl_sync(0xffffffffu, pair.elements.words[0], lane);
      }
      return {pair.get(0), pair.get(1)};
    }
  };

  // (row, column) is where the warp's 16 rows of wgmma's result begin in C; `index` counts the
  // calls for a tile of C. `corrected` is given each sum and the row and column of C it is for.
  // `fetch` is what has fetched the tile's boxes, with kFetchesC.
  template <class Sums, class Corrected, class AnyFetch>
  static __device__ __forceinline__ void store(const Sums& sums, unsigned char* buffers,
                                               const Writer& writer, const ColumnBias& bias,
                                               const TensorMap& c, int batch, int row, int column,
                                               int index, Corrected corrected,
                                               const AnyFetch& fetch) {
    const unsigned first = shared_address(buffers);
    const bool leads = is_elected();
    const int m = row + static_cast<int>(threadIdx.x) % 32 / 4;
    float of_rows[2] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (m + half * 8 < writer.args.m) of_rows[half] = writer.row_bias(m + half * 8);
    }
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int count = index * kAcross + i;
      const Lines lines = Lines::at(first + count % kBoxes.buffers * kBoxes.bytes());
      bool is_fetched = false;
      if constexpr (kFetchesC) {
        is_fetched = writer.args.beta != 0.0f;
        if (is_fetched && leads) fetch.go_on(count, batch, row - index * kWgmmaRows, column);
        if (is_fetched) fetch.await(count);
      }
      if (leads && !is_fetched) wait_for_free_buffer<kBoxes.buffers>(count);
      __syncwarp();
      const int from = column + i * kBoxes.columns;
      Pairs pairs = Pairs::of(sums, i * kBoxes.columns);
      if constexpr (Corrected::kCorrects) {
        if (pairs.correct(lines, writer, m, from, corrected)) is_fetched = false;
      }
      if (writer.args.beta != 0.0f) {
        if (!is_fetched) {
          copy_old_lines<WgmmaBoxes::kRows, kBoxes.line_bytes() / 16>(
              writer, row, from, [&](int line, int chunk) { return lines.chunk(line, chunk); });
          __syncwarp();
        }
        finish_box<true>(pairs, lines, writer, bias, of_rows, i);
      } else {
        finish_box<false>(pairs, lines, writer, bias, of_rows, i);
      }
      tensor_store_fence();
      __syncwarp();
      if (leads) {
        store_box(c, from, row, batch, lines.box);
        commit_stored_boxes();
      }
    }
  }

  // By each warp, before its block ends.
  static __device__ __forceinline__ void finish() {
    if (is_elected()) wait_for_stored_boxes<0>();
  }

 private:
  static constexpr int kEights = kBoxes.columns / 8;

  // The lane's sums of a box: of each 8 columns, and of rows lane / 4 and lane / 4 + 8.
  struct Pairs {
    FloatVector<2> at[kEights][2];

    // From wgmma's column `from` on.
    template <class Sums>
    static __device__ __forceinline__ Pairs of(const Sums& sums, int from) {
      Pairs out;
#pragma unroll
      for (int i = 0; i < 2 * kEights; ++i) {
        const int column = from + i / 2 * 8;
        out.at[i / 2][i % 2] = {sums.get(column, i % 2, 0), sums.get(column, i % 2, 1)};
      }
      return out;
    }

    // Where a sum of the warp is NaN, all pass through the box, so that there is one loop for them:
    // true then. (m, n) is where the lane's first row and the box's first column are in C.
    template <class Corrected>
    __device__ __forceinline__ bool correct(const Lines& lines, const Writer& writer, int m, int n,
                                            Corrected corrected) {
      static_assert(kBoxes.element_bytes == 4, "sums are not to be rounded");
      bool is_nan = false;
#pragma unroll
      for (int i = 0; i < 4 * kEights; ++i) {
        const float sum = at[i / 4][i / 2 % 2].v[i % 2];
        if (sum != sum) is_nan = true;
      }
      if (!__any_sync(0xffffffffu, is_nan)) return false;
#pragma unroll
      for (int i = 0; i < 2 * kEights; ++i) lines.store_pair(i / 2, i % 2, at[i / 2][i % 2]);
#pragma unroll 1
      for (int i = 0; i < 2 * kEights; ++i) {
        const int row = m + i % 2 * 8;
        const int column = n + i / 2 * 8 + static_cast<int>(threadIdx.x) % 4 * 2;
        if (row >= writer.args.m || column >= writer.args.n) continue;
        const FloatVector<2> pair = lines.load(i / 2, i % 2);
        lines.store_pair(
            i / 2, i % 2,
            {corrected(pair.v[0], row, column), corrected(pair.v[1], row, column + 1)});
      }
#pragma unroll
      for (int i = 0; i < 2 * kEights; ++i) at[i / 2][i % 2] = lines.load(i / 2, i % 2);
      __syncwarp();
      return true;
    }
  };

  // Lays the results of box i out in its lines, 16 columns at a time, in place of what C held
  // there.
  template <bool kReadsC>
  static __device__ __forceinline__ void finish_box(const Pairs& pairs, const Lines& lines,
                                                    const Writer& writer, const ColumnBias& bias,
                                                    const float (&of_rows)[2], int i) {
#pragma unroll
    for (int j = 0; j + 2 <= kEights; j += 2)
      finish_eights<kReadsC, 2>(pairs, lines, writer, bias, of_rows, i, j);
    if constexpr (kEights % 2 != 0)
      finish_eights<kReadsC, 1>(pairs, lines, writer, bias, of_rows, i, kEights - 1);
  }

  // The same of kCount times 8 columns of the box, from the j-th on.
  template <bool kReadsC, int kCount>
  static __device__ __forceinline__ void finish_eights(const Pairs& pairs, const Lines& lines,
                                                       const Writer& writer, const ColumnBias& bias,
                                                       const float (&of_rows)[2], int i, int j) {
    FloatVector<2> results[kCount][2];
#pragma unroll
    for (int e = 0; e < kCount; ++e) {
      FloatVector<2> of_columns = {};
      if constexpr (Writer::kHasColumnBias) of_columns = bias.of(i * kBoxes.columns + (j + e) * 8);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        FloatVector<2> old = {};
        if constexpr (kReadsC) old = lines.load(j + e, half);
        const FloatVector<2> of_row = {of_rows[half], of_rows[half]};
        results[e][half] = writer.template results<kReadsC>(
            pairs.at[j + e][half], old, Writer::kHasColumnBias ? of_columns : of_row);
      }
    }
    if constexpr (kReadsC) __syncwarp();  // lanes may store where others have read
    lines.store(j, results);
  }
};

}  // namespace gemmtune
