#pragma once

#include "parts/mma/mma_tile_loader.cuh"
#include "parts/ptx/mma.cuh"
#include "parts/shared/mma_tiles.h"

// A warp's fragments of A or B for one k step (32 bytes along k: 16 values of 16 bits, 8 of 32),
// read from a swizzled shared tile. A subtile is four 8 x 16-byte matrices: 16 rows of A, or 16
// columns of B.
//
//     A's subtile     k 0-7  k 8-15        B's subtile    n 0-7  n 8-15
//     m 0-7           0      2           k 0-7          0      2         (32 bits: k 0-3, 4-7)
//     m 8-15          1      3           k 8-15         1      3
//
// ldmatrix reads a subtile at once. mma wants a pair of neighbouring k of 16 bits, or one k of 32,
// in a register, for both operands. A tile that is contiguous along k has them so; one that is
// contiguous along mn is transposed on the way (.trans), which there is for 16 bits only.

namespace gemmtune {

template <int kWarpMn>
struct MmaFragment {
  static constexpr int kSubtiles = kWarpMn / kFragmentSide;
  unsigned subtiles[kSubtiles][4];
};

template <int kTileMn, int kTileK, int kWarpMn, bool kIsA, bool kContiguousK, int kElementBytes>
class MmaFragmentReader {
  using Rows = typename MmaTile<kTileMn, kTileK, kContiguousK, kElementBytes>::Rows;
  static constexpr int kSteps = kTileK * kElementBytes / kMmaStepBytes;
  static constexpr int kSubtiles = kWarpMn / kFragmentSide;
  static constexpr bool kStepsAreBits = kContiguousK && steps_are_bits(Rows::kRowBytes);
  static constexpr int kOffsets =
      fragment_offsets(kContiguousK, Rows::kRowBytes, kSteps, kSubtiles);

 public:
  // `start` is the warp's first row of A or column of B in the block tile.
  __device__ __forceinline__ explicit MmaFragmentReader(int start) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Lines of matrices 0 and 1 follow one another where the tile's lines run as the subtile's
    // columns in the picture do; else matrices 0 and 2.
    constexpr bool kDownFirst = kIsA == kContiguousK;
    const int line = kDownFirst ? lane % 16 : lane % 8 + lane / 16 * 8;
    const int chunk = kDownFirst ? lane / 16 : lane / 8 % 2;
#pragma unroll
    for (int i = 0; i < kOffsets; ++i) {
      offsets_[i] = kContiguousK ? Rows::offset(start + line, 2 * i + chunk)
                                 : Rows::offset(line, start / 8 + 2 * i + chunk);
    }
  }

  // `tile` is the shared address of the operand's tile, a multiple of kMmaBufferAlignment; step in
  // [0, kSteps).
  __device__ __forceinline__ void read(MmaFragment<kWarpMn>& to, unsigned tile, int step) const {
#pragma unroll
    for (int i = 0; i < kSubtiles; ++i) {
      load_matrices<!kContiguousK>(to.subtiles[i], place_of(tile, i, step));
    }
  }

 private:
  __device__ __forceinline__ unsigned place_of(unsigned tile, int subtile, int step) const {
    constexpr int kSubtileBytes = 16 * Rows::kRowBytes;
    if constexpr (kStepsAreBits) {
      return ((tile + offsets_[0]) ^ (step * 32)) + subtile * kSubtileBytes;
    } else if constexpr (kContiguousK) {
      return tile + offsets_[step] + subtile * kSubtileBytes;
    } else {
      return tile + offsets_[subtile] + step * kSubtileBytes;
    }
  }

  int offsets_[kOffsets];
};

// 32-bit elements that are contiguous along mn, read as they lie and so that registers which mma
// wants side by side arrive side by side: of A two neighbouring rows of one k, of B one element. So
// A's rows are exchanged within groups of 16: row 8 * o + r of a subtile is row 2 * r + o of the
// tile.
template <int kTileMn, int kTileK, int kWarpMn, bool kIsA>
class MmaFragmentReader<kTileMn, kTileK, kWarpMn, kIsA, false, 4> {
  using Rows = typename MmaTile<kTileMn, kTileK, false, 4>::Rows;
  static constexpr int kWidth = kIsA ? 2 : 1;               // elements of a read
  static constexpr int kReads = 2 / kWidth;                 // of a subtile at one k
  static constexpr int kReadsOfPeriod = 32 / (8 * kWidth);  // then the swizzle repeats

 public:
  __device__ __forceinline__ explicit MmaFragmentReader(int start) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kReadsOfPeriod; ++i) {
      const int mn = start + (i * 8 + lane / 4) * kWidth;
      offsets_[i] = Rows::offset(lane % 4, mn / 4) + mn % 4 * 4;
    }
  }

  __device__ __forceinline__ void read(MmaFragment<kWarpMn>& to, unsigned tile, int step) const {
#pragma unroll
    for (int i = 0; i < kWarpMn / 16 * kReads; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned from = tile + offsets_[i % kReadsOfPeriod] + i / kReadsOfPeriod * 128 +
                              (step * 8 + half * 4) * Rows::kRowBytes;
        unsigned(&subtile)[4] = to.subtiles[i / kReads];
        if constexpr (kIsA) {
          load_shared(subtile[2 * half], subtile[2 * half + 1], from);
        } else {
          load_shared(subtile[i % kReads * 2 + half], from);
        }
      }
    }
  }

 private:
  int offsets_[kReadsOfPeriod];
};

// Row of a warp's tile that row r of row tile i (16 rows of sums) is.
template <bool kExchanged>
struct MmaRows {
  static __device__ __forceinline__ int row(int i, int r) {
    return i * 16 + (kExchanged ? r % 8 * 2 + r / 8 : r);
  }
};

}  // namespace gemmtune
