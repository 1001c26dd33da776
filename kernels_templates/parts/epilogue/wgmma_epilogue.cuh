#pragma once

#include "parts/epilogue/fetched_slab.cuh"
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

template <TileConfig kTile, int kVector, bool kFetchesC>
struct WgmmaEpilogue {
  static constexpr WgmmaSlab kSlab{kTile};
  static constexpr bool kExchanged = kTile.exchange != 0;
  static constexpr int kPart = kExchanged ? kSlab.rows : kSlab.columns;  // columns of wgmma's
  static constexpr int kParts = wgmma_tile_columns(kTile) / kPart;
  static constexpr int kRowsApart = kExchanged ? kPart : 0;  // of C, from part to part
  static constexpr int kColumnsApart = kExchanged ? 0 : kPart;
  static constexpr int kAccess = kVector < kSlab.columns ? kVector : kSlab.columns;
  using Drain = SlabDrain<kAccess, kSlab.columns, kSlab.stride, kSlab.rows>;

  // Whether what C holds is fetched; bodies of rows are loaded as they are stored.
  static constexpr bool kFetches = kFetchesC && !Drain::kInBodies;
  using Fetched = FetchedSlab<Drain, kAccess, kSlab.stride, kSlab.rows>;

  // What C holds of as many parts as a few registers take.
  template <class Writer>
  struct Old {
    using Part = typename Fetched::template Old<Writer>;
    static constexpr int kMost = 160 / static_cast<int>(sizeof(Part));
    static constexpr int kCount = kMost < 1 ? 1 : kMost < kParts ? kMost : kParts;
    Part parts[kCount];
  };
  struct NotFetched {};

  // Of the first parts from (row, column) on, before they are stored.
  template <class Writer>
  static __device__ __forceinline__ auto old(const Writer& writer, int row, int column) {
    if constexpr (kFetches) {
      Old<Writer> out;
#pragma unroll
      for (int part = 0; part < Old<Writer>::kCount; ++part)
        out.parts[part] =
            Fetched::load(writer, row + part * kRowsApart, column + part * kColumnsApart);
      return out;
    } else {
      return NotFetched{};
    }
  }

  // (row, column) is where the warp's 16 rows of wgmma's result, or columns, begin in C.
  // `corrected` is given each sum and the row and column of C it is for. `old` is what old()
  // returned of there.
  template <class Sums, class Writer, class Corrected = AsSummed, class OldOf = NotFetched>
  static __device__ __forceinline__ void store(const Sums& sums, float* slab, const Writer& writer,
                                               int row, int column, Corrected corrected = {},
                                               OldOf old = {}) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      fill(sums, slab, part);
      __syncwarp();
      const int first_row = row + part * kRowsApart;
      const int first_column = column + part * kColumnsApart;
      const auto bias = Drain::bias(writer, first_column);
      if constexpr (kFetches) {
        auto& next = old.parts[part % OldOf::kCount];
        const auto of_part = next;
        const int later = part + OldOf::kCount;
        if (later < kParts)
          next = Fetched::load(writer, row + later * kRowsApart, column + later * kColumnsApart);
        Fetched::run(of_part, slab, writer, first_row, first_column, bias, corrected);
      } else {
        Drain::run(
            slab, writer, [&](int r) { return first_row + r; }, first_column, bias, corrected);
      }
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
