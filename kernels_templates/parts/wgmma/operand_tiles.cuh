#pragma once

#include "parts/ptx/tensor_copy.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/shared/tensor_map.h"
#include "parts/shared/wgmma_tiles.h"

// An operand's tile of a stage: how TMA brings it to shared memory, and how wgmma finds it there.
//
//     contiguous k: boxes of 128 bytes of k           else: boxes of 128 bytes of m or n
//     +------------+------------+                     +------------+------------+
//     | side lines | side lines |                     | tile_k     | tile_k     |
//     | k 0..63    | k 64..127  |                     | mn 0..63   | mn 64..127 |
//     +------------+------------+                     +------------+------------+
//
// A line is 128 bytes, swizzled. Where kSharers blocks of a cluster share the tile, each loads its
// part of every box's lines into all of them, or all of it in turns (TmaTile::parts).

namespace gemmtune {

template <bool kContiguousK, int kSide, int kTileK, int kElementBytes, int kSharers>
struct OperandTile {
  static constexpr TmaTile kTile{kSide, kTileK, kContiguousK, kElementBytes};
  static constexpr int kBytes = kTile.bytes();
  static constexpr int kLine = kTmaLineBytes / kElementBytes;  // elements
  static constexpr int kBoxBytes = kTile.box_rows * kTmaLineBytes;
  static constexpr bool kInTurns = kSharers > 1 && kTile.parts(kSharers) == 1;
  static constexpr int kPartRows = kTile.box_rows / kTile.parts(kSharers);

  // Loads what sharer `sharer` loads of the tile at (mn, k) of a matrix for stage `stage`, into the
  // blocks of the cluster whose bits are set in `blocks`: this one alone, if the tile is not
  // shared.
  static __device__ __forceinline__ void load(unsigned to, const TensorMap& map, int mn, int k,
                                              int entry, unsigned barrier, int stage, int sharer,
                                              unsigned short blocks) {
    if (kInTurns && stage % kSharers != sharer) return;
    const int part = kInTurns ? 0 : sharer;
#pragma unroll
    for (int box = 0; box < kTile.boxes; ++box) {
      const int x = (kContiguousK ? k : mn) + box * kLine;
      const int y = (kContiguousK ? mn : k) + part * kPartRows;
      const unsigned at = to + box * kBoxBytes + part * (kPartRows * kTmaLineBytes);
      if constexpr (kSharers > 1) {
        load_box_to_blocks(at, map, x, y, entry, barrier, blocks);
      } else {
        load_box(at, map, x, y, entry, barrier);
      }
    }
  }

  // Of the tile at `address`, from row or column `first` of m or n on, a multiple of 64.
  static __device__ __forceinline__ unsigned long long descriptor(unsigned address, int first) {
    return wgmma_descriptor(address + side_offset(first), kBoxBytes);
  }

  // Bytes from the tile's beginning to row or column `first` of m or n, a multiple of 64.
  static constexpr __device__ __forceinline__ int side_offset(int first) {
    return kContiguousK ? first * kTmaLineBytes : first / kLine * kBoxBytes;
  }

  // Bytes from the tile's beginning to the products' step `step` along k.
  static constexpr __device__ __forceinline__ int step_offset(int step) {
    const int bytes = step * kWgmmaStepBytes;
    if constexpr (kContiguousK) {
      return bytes / kTmaLineBytes * kBoxBytes + bytes % kTmaLineBytes;
    } else {
      return bytes / kElementBytes * kTmaLineBytes;
    }
  }
};

}  // namespace gemmtune
