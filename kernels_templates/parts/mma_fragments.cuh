#pragma once

#include "parts/mma.cuh"
#include "parts/mma_tile_loader.cuh"

// A warp's fragments of A or B for one k step (32 bytes along k: 16 values of 16 bits, 8 of 32),
// read from a swizzled shared tile. A piece is four 8 x 16-byte matrices: 16 rows of A, or 16
// columns of B.
//
//     A's piece     k 0-7  k 8-15        B's piece    n 0-7  n 8-15
//     m 0-7           0      2           k 0-7          0      2         (32 bits: k 0-3, 4-7)
//     m 8-15          1      3           k 8-15         1      3
//
// ldmatrix reads a piece at once. mma wants a pair of neighbouring k of 16 bits, or one k of 32, in
// a register, for both operands. A tile that is contiguous along k has them so; one that is
// contiguous along mn is transposed on the way (.trans), which there is for 16 bits only.

namespace gemmtune {

template <int kWarpMn>
struct MmaFragment {
  static constexpr int kPieces = kWarpMn / 16;
  unsigned pieces[kPieces][4];
};

template <int kTileMn, int kTileK, int kWarpMn, bool kIsA, bool kContiguousK, int kElementBytes>
class MmaFragmentReader {
  using Rows = typename MmaTile<kTileMn, kTileK, kContiguousK, kElementBytes>::Rows;
  static constexpr int kSteps = kTileK * kElementBytes / 32;
  static constexpr int kPieces = kWarpMn / 16;
  static constexpr int kOffsets = kContiguousK ? kSteps : kPieces;

 public:
  // `start` is the warp's first row of A or column of B in the block tile.
  __device__ __forceinline__ explicit MmaFragmentReader(int start) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Lines of matrices 0 and 1 follow one another where the tile's lines run as the piece's
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

  // `tile` is the shared address of the operand's tile; step in [0, kSteps).
  __device__ __forceinline__ void read(MmaFragment<kWarpMn>& to, unsigned tile, int step) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const int offset = kContiguousK ? offsets_[step] + i * (16 * Rows::kRowBytes)
                                      : offsets_[i] + step * (16 * Rows::kRowBytes);
      load_matrices<!kContiguousK>(to.pieces[i], tile + offset);
    }
  }

 private:
  int offsets_[kOffsets];
};

// 32-bit elements that are contiguous along mn. A lane reads four neighbours of one k at once,
// which become the same place of four 8-row (or 8-column) matrices. So the rows and columns of a
// warp's products are exchanged within groups of 32: row r of matrix o is row 4 * r + o of the
// tile.
template <int kTileMn, int kTileK, int kWarpMn, bool kIsA>
class MmaFragmentReader<kTileMn, kTileK, kWarpMn, kIsA, false, 4> {
  using Rows = typename MmaTile<kTileMn, kTileK, false, 4>::Rows;
  static_assert(kWarpMn % 32 == 0, "rows are exchanged within groups of 32");

 public:
  __device__ __forceinline__ explicit MmaFragmentReader(int start) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    offset_ = Rows::offset(lane % 4, start / 4 + lane / 4);
  }

  __device__ __forceinline__ void read(MmaFragment<kWarpMn>& to, unsigned tile, int step) const {
#pragma unroll
    for (int group = 0; group < kWarpMn / 32; ++group) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        unsigned x[4];
        load_shared(x, tile + offset_ + (step * 8 + half * 4) * Rows::kRowBytes + group * 128);
#pragma unroll
        for (int o = 0; o < 4; ++o) {
          to.pieces[2 * group + o / 2][kIsA ? 2 * half + o % 2 : half + o % 2 * 2] = x[o];
        }
      }
    }
  }

 private:
  int offset_;
};

// Where a warp's sums lie in its tile: of row tile i (16 rows) and column tile j (8 columns), lane
// l holds elements (l / 4 + 8 * half, 2 * (l % 4) + pair).
template <bool kRowsExchanged, bool kColumnsExchanged>
struct MmaPlaces {
  static constexpr bool kColumnsInFours = kColumnsExchanged;

  // Row of the warp's tile that row `r` of row tile i is.
  static __device__ __forceinline__ int row(int i, int r) {
    return kRowsExchanged ? i / 2 * 32 + r % 8 * 4 + i % 2 * 2 + r / 8 : i * 16 + r;
  }
};

}  // namespace gemmtune
