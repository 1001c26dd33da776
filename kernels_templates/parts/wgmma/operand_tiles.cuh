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
// A line is 128 bytes, swizzled. Where blocks of a cluster share the tile, each loads `kParts`-th
// of every box's lines into all of them.

namespace gemmtune {

template <bool kContiguousK, int kSide, int kTileK, int kElementBytes, int kParts>
struct OperandTile {
  static constexpr TmaTile kTile{kSide, kTileK, kContiguousK, kElementBytes};
  static constexpr int kBytes = kTile.bytes();
  static constexpr int kLine = kTmaLineBytes / kElementBytes;  // elements
  static constexpr int kBoxBytes = kTile.box_rows * kTmaLineBytes;
  static constexpr int kPartRows = kTile.box_rows / kParts;

  // Loads part `part` of the tile at (mn, k) of a matrix into the blocks of the cluster whose bits
  // are set in `blocks`: this one alone, if the tile is not shared.
  static __device__ __forceinline__ void load(unsigned to, const TensorMap& map, int mn, int k,
                                              int entry, unsigned barrier, int part,
                                              unsigned short blocks) {
#pragma unroll
    for (int box = 0; box < kTile.boxes; ++box) {
      const int x = (kContiguousK ? k : mn) + box * kLine;
      const int y = (kContiguousK ? mn : k) + part * kPartRows;
      const unsigned at = to + box * kBoxBytes + part * (kPartRows * kTmaLineBytes);
      if constexpr (kParts > 1) {
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
