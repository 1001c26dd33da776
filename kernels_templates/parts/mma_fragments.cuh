#pragma once

#include "parts/half_tile_loader.cuh"
#include "parts/mma.cuh"

// A warp's fragments of A or B for one k step (16 values of k), read from a swizzled shared tile by
// ldmatrix, four 8x8 matrices at a time: a piece of 16 rows of A, or 16 columns of B.
//
//     A's piece     k 0-7  k 8-15        B's piece    n 0-7  n 8-15
//     m 0-7           0      2           k 0-7          0      2
//     m 8-15          1      3           k 8-15         1      3
//
// mma wants a pair of neighbouring k in a register, for both operands. A tile that is contiguous
// along k holds such pairs; one that is contiguous along mn is transposed on the way (.trans).

namespace gemmtune {

template <int kWarpMn>
struct MmaFragment {
  static constexpr int kPieces = kWarpMn / 16;
  unsigned pieces[kPieces][4];
};

template <int kTileMn, int kTileK, int kWarpMn, bool kIsA, bool kContiguousK>
class MmaFragmentReader {
  using Rows = typename HalfTile<kTileMn, kTileK, kContiguousK>::Rows;
  static constexpr int kSteps = kTileK / 16;
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

  // `tile` is the shared address of the operand's tile; step in [0, kTileK / 16).
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

}  // namespace gemmtune
