#pragma once

// Tiles that begin where lines of memory do. Of an operand whose rows begin in the middle of a
// 128-byte line (a pointer or a padding that is a multiple of 16 bytes only), a tile of 32 columns
// would touch two lines in each row, and its neighbour one of them again. So all tiles move back to
// the last boundary, and what the first one loses comes around from behind the last:
//
//     columns        0 1 2 3 ... 4095          shift 4, tiles of 32
//     tile 0         [4092 .. 4095 0 .. 27]
//     tile 1         [28 .. 59]                and so on
//
// Positions are those of the tiles one after the other, places what they mean in the matrix.

namespace gemmtune {

struct LineRotation {
  int shift = 0;
  int around = 0;  // positions of all tiles

  __device__ __forceinline__ int place(int position) const {
    const int place = position - shift;
    return place < 0 ? place + around : place;
  }
};

// For `extent` places in tiles of kTileSize, contiguous from `base` in rows `ld` apart. No rotation
// where rows begin at different places of their lines.
template <int kTileSize>
__device__ __forceinline__ LineRotation line_rotation(const float* base, long long ld, int extent) {
  constexpr int kLineFloats = 32;
  constexpr int kUnit = kTileSize < kLineFloats ? kTileSize : kLineFloats;
  const int shift = static_cast<int>(reinterpret_cast<unsigned long long>(base) / 4 % kUnit);
  return {ld % kUnit == 0 ? shift : 0, (extent + kTileSize - 1) / kTileSize * kTileSize};
}

}  // namespace gemmtune
