#pragma once

#include "parts/ptx/tensor_copy.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/shared/tensor_map.h"
#include "parts/shared/wgmma_tiles.h"

// An operand's tile of a stage: how TMA brings it to shared memory, and how wgmma finds it there.
//
//     contiguous k: boxes of 128 bytes of k           else: boxes of 128 or 64 bytes of m or n
//     +------------+------------+                     +------------+------------+
//     | side lines | side lines |                     | tile_k     | tile_k     |
//     | k 0..63    | k 64..127  |                     | mn 0..63   | mn 64..127 |
//     +------------+------------+                     +------------+------------+
//
// Lines are swizzled. Where kSharers blocks of a cluster share the tile, each loads its
// part of every box's lines into all of them, or all of it in turns (TmaTile::parts). kOnce: as
// KernelTraits says of the operand. `lines` are those of a part that are loaded, all or, of few
// rows, TmaTile::part_lines.

namespace gemmtune {

template <bool kContiguousK, int kSide, int kTileK, int kElementBytes, int kSharers, bool kOnce>
struct OperandTile {
  static constexpr TmaTile kTile{kSide, kTileK, kContiguousK, kElementBytes};
  static constexpr int kBytes = kTile.bytes();
  static constexpr int kLineBytes = kTile.line_bytes;
  static constexpr int kLine = kLineBytes / kElementBytes;  // elements
  static constexpr int kBoxBytes = kTile.box_bytes();
  static constexpr int kParts = kTile.parts(kSharers);
  static constexpr bool kInTurns = kSharers > 1 && kParts == 1;
  static constexpr int kPartRows = kTile.box_rows / kParts;

  // Loads what sharer `sharer` loads of the tile at (mn, k) of a matrix for stage `stage`, into the
  // blocks of the cluster whose bits are set in `blocks`.
  static __device__ __forceinline__ void load(unsigned to, const TensorMap& map, int lines, int mn,
                                              int k, int entry, unsigned barrier, int stage,
                                              int sharer, unsigned short blocks) {
    if constexpr (kSharers == 1) {
      load_alone(to, map, lines, mn, k, entry, barrier);
    } else {
      if (kInTurns && stage % kSharers != sharer) return;
      const int part = kInTurns ? 0 : sharer;
#pragma unroll
      for (int box = 0; box < kTile.boxes; ++box) {
        const Place at = Place::of(mn, k, box, part * lines);
        load_box_to_blocks<kOnce>(to + at.bytes, map, at.x, at.y, entry, barrier, blocks);
      }
    }
  }

  // Of a matrix that has `lines` lines: those of a part that are loaded.
  static constexpr __device__ __forceinline__ int part_lines(int lines) {
    return TmaTile(kSide, kTileK, kContiguousK, kElementBytes).part_lines(kSharers, lines);
  }
  // Bytes that arrive of a tile then.
  static constexpr __device__ __forceinline__ int loaded_bytes(int lines) {
    return kTile.boxes * kParts * kLineBytes * lines;
  }

  // All of the tile, into this block.
  static __device__ __forceinline__ void load_alone(unsigned to, const TensorMap& map, int lines,
                                                    int mn, int k, int entry, unsigned barrier) {
#pragma unroll
    for (int box = 0; box < kTile.boxes; ++box) {
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const Place at = Place::of(mn, k, box, part * lines);
        load_box<kOnce>(to + at.bytes, map, at.x, at.y, entry, barrier);
      }
    }
  }

  // Where a part of a box lies that begins at line `line`: in the matrix, and in the tile in shared
  // memory.
  struct Place {
    int x;
    int y;
    int bytes;

    static __device__ __forceinline__ Place of(int mn, int k, int box, int line) {
      return {(kContiguousK ? k : mn) + box * kLine, (kContiguousK ? mn : k) + line,
              box * kBoxBytes + line * kLineBytes};
    }
  };

  // Of the tile at `address`, from row or column `first` of m or n on, a multiple of 64.
  static __device__ __forceinline__ unsigned long long descriptor(unsigned address, int first) {
    return wgmma_descriptor<kLineBytes>(address + side_offset(first), kBoxBytes);
  }

  // Bytes from the tile's beginning to row or column `first` of m or n, a multiple of 64.
  static constexpr __device__ __forceinline__ int side_offset(int first) {
    return kContiguousK ? first * kLineBytes : first / kLine * kBoxBytes;
  }

  // Bytes from the tile's beginning to the products' step `step` along k.
  static constexpr __device__ __forceinline__ int step_offset(int step) {
    const int bytes = step * kWgmmaStepBytes;
    if constexpr (kContiguousK) {
      return bytes / kLineBytes * kBoxBytes + bytes % kLineBytes;
    } else {
      return bytes / kElementBytes * kLineBytes;
    }
  }
};

}  // namespace gemmtune
