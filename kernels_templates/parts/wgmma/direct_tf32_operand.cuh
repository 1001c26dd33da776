#pragma once

#include "parts/ptx/memory_read.cuh"
#include "parts/ptx/shared_access.cuh"
#include "parts/ptx/shared_word.cuh"
#include "parts/ptx/tf32.cuh"
#include "parts/shared/direct_block.h"
#include "parts/shared/k_major_lines.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// An operand of tf32 products of any alignment, from memory to the tile of a stage as TMA would lay
// it out, with k contiguous (operand_tiles.cuh), through the registers of a warpgroup. A warp reads
// 32 neighbouring elements at a time, and what it stores meets no bank twice:
//
//     contiguous k:   32 k of a line, one a lane     ->  a word of each of the line's banks
//     else:           32 m or n of a k; four k       ->  16 bytes of 32 swizzled lines
//
// Elements are rounded, as TMA does. Outside of the operand they are zeros along k. Along m or n
// they are others of the operand: sums with them are of rows or columns that C does not have.

namespace gemmtune {

template <bool kContiguousK, int kSide>
struct DirectTf32Operand {
  using Element = float;
  static constexpr int kParts = 2;
  static constexpr int kWords = kSide * kDirectTf32Depth / kParts / kWarpgroupThreads;
  static_assert(kSide % kDirectTf32Lines == 0, "warps load 32 lines at a time");

  // What a thread has loaded of a part of a tile.
  struct Chunks {
    float words[kWords];
  };

  const float* data;  // of the entry
  long long ld;
  int lines;
  int extent;  // of a line

  // Where a thread's elements are of the tile at (mn, k).
  struct Place {
    const float* from;  // the first of part 0
    int last;           // how far the operand's last line, or its last m or n, is from there
    int plain;          // tiles from this one on along k that lie in the operand
    bool inside;        // along m or n
  };

  __device__ __forceinline__ Place at(int mn, int k) const {
    const int side = mn + (kContiguousK ? warp() : lane());
    const int most = (kContiguousK ? lines : extent) - 1;
    const int depth = k + (kContiguousK ? lane() : kKMajorVector * warp());
    Place place;
    place.from =
        data + (kContiguousK ? min(side, most) * ld + depth : depth * ld + min(side, most));
    place.last = max(most - side, 0);
    place.inside = mn + kSide <= most + 1;
    place.plain = max(depth_left(k), 0) / kDirectTf32Depth;
    return place;
  }

  // Tiles further on along k.
  __device__ __forceinline__ void advance(Place& place, int tiles) const {
    place.from += kContiguousK ? tiles * kDirectTf32Depth : tiles * kDirectTf32Depth * ld;
    place.plain -= tiles;
  }

  // Part `part` of a plain tile.
  __device__ __forceinline__ void load(Chunks& chunks, const Place& place, int part) const {
    if (!kContiguousK && place.inside) {
      load_inside(chunks, place, part);
    } else {
      load_first(chunks, place, part, kDirectTf32Depth);
    }
  }

  // Has L2 fetch the tile at (mn, k), which lies in the operand along k: 128 bytes a lane.
  __device__ __forceinline__ void fetch_to_l2(int mn, int k) const {
    constexpr int kPieces = kSide / kDirectTf32Lines;  // of 32 lines, a warp's at a time
    const int most = (kContiguousK ? lines : extent) - 1;
#pragma unroll
    for (int first = 0; first < kPieces; first += kWarpsOfWarpgroup) {
      const int piece = first + warp();
      if (piece >= kPieces) break;
      const int side = mn + piece * kDirectTf32Lines;
      prefetch_l2(kContiguousK ? data + min(side + lane(), most) * ld + k
                               : data + (k + lane()) * ld + min(side, most));
    }
  }

  // To the tile at `to`, in shared memory.
  static __device__ __forceinline__ void store(const Chunks& chunks, unsigned to, int part) {
    if constexpr (kContiguousK) {
      store_words(chunks, to + part * (kSide / kParts) * kTmaLineBytes);
    } else {
      store_vectors(chunks, to, part);
    }
  }

  // From memory to shared memory, of any tile.
  __device__ __forceinline__ void move(int mn, int k, unsigned to, int part) const {
    Chunks chunks;
    load_first(chunks, at(mn, k), part, depth_left(k));
    store(chunks, to, part);
  }

 private:
  static constexpr int kVectorBytes = 4 * kKMajorVector;

  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }
  static __device__ __forceinline__ int warp() {
    return static_cast<int>(threadIdx.x) / 32 % kWarpsOfWarpgroup;
  }

  __device__ __forceinline__ int depth_left(int k) const {
    return (kContiguousK ? extent : lines) - k;
  }

  // Of the tile's k the first `depth`, and zeros behind them.
  __device__ __forceinline__ void load_first(Chunks& chunks, const Place& place, int part,
                                             int depth) const {
    if constexpr (kContiguousK) {
      load_lines(chunks, place, part * (kSide / kParts), lane() < depth);
    } else {
      load_depths(chunks, place, part, depth - kKMajorVector * warp());
    }
  }

  // Every fourth line from the thread's `first` one on.
  __device__ __forceinline__ void load_lines(Chunks& chunks, const Place& place, int first,
                                             bool exists) const {
    const float* from = place.from + min(first, place.last) * ld;
    const long long step = kWarpsOfWarpgroup * ld;
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      chunks.words[i] = exists ? AsConstant::of(from) : 0.0f;
      if (first + (i + 1) * kWarpsOfWarpgroup <= place.last) from += step;
    }
  }

  // As load_depths(), of a tile that lies in the operand: by few addresses, and in the order of the
  // program, so that loads are under way while others' results are stored.
  __device__ __forceinline__ void load_inside(Chunks& chunks, const Place& place, int part) const {
    const int first = part * kKMajorVector * kWarpsOfWarpgroup;
#pragma unroll
    for (int j = 0; j < kKMajorVector; ++j) {
      const float* const row = place.from + (first + j) * ld;
#pragma unroll
      for (int i = 0; i < kWords / kKMajorVector; ++i)
        chunks.words[i * kKMajorVector + j] = load_constant_in_order(row + i * kDirectTf32Lines);
    }
  }

  // Four k, of each the m or n that are 32 apart.
  __device__ __forceinline__ void load_depths(Chunks& chunks, const Place& place, int part,
                                              int depth) const {
    const int first = part * kKMajorVector * kWarpsOfWarpgroup;
#pragma unroll
    for (int j = 0; j < kKMajorVector; ++j) {
      const float* const row = place.from + (first + j) * ld;
#pragma unroll
      for (int i = 0; i < kWords / kKMajorVector; ++i) {
        chunks.words[i * kKMajorVector + j] =
            first + j < depth ? AsConstant::of(row + min(i * kDirectTf32Lines, place.last)) : 0.0f;
      }
    }
  }

  static __device__ __forceinline__ void store_words(const Chunks& chunks, unsigned to) {
    const unsigned own = to + warp() * kTmaLineBytes + lane() % kKMajorVector * 4;
    const int chunk = lane() / kKMajorVector ^ warp();
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      constexpr int kStep = kWarpsOfWarpgroup * kTmaLineBytes;
      const int swizzled = chunk ^ i * kWarpsOfWarpgroup % kSwizzleLines;
      store_shared(own + i * kStep + swizzled * kVectorBytes,
                   nearest_tf32_of_wgmma(chunks.words[i]));
    }
  }

  static __device__ __forceinline__ void store_vectors(const Chunks& chunks, unsigned to,
                                                       int part) {
    const int chunk = warp() + part * kWarpsOfWarpgroup ^ lane() % kSwizzleLines;
    const unsigned own = to + lane() * kTmaLineBytes + chunk * kVectorBytes;
#pragma unroll
    for (int i = 0; i < kWords / kKMajorVector; ++i) {
      FloatVector<kKMajorVector> out;
#pragma unroll
      for (int j = 0; j < kKMajorVector; ++j)
        out.v[j] = nearest_tf32_of_wgmma(chunks.words[i * kKMajorVector + j]);
      store_shared_four(own + i * kDirectTf32Lines * kTmaLineBytes, out);
    }
  }
};

// The one of two operands that threads load (direct_block.h).
template <TileConfig kTile, KernelTraits kCallers>
struct DirectTf32 {
  static constexpr KernelTraits kTraits = kCallers;
  static constexpr bool kIsA = is_direct_a(kTile, kTraits);
  static constexpr DirectRegisters kRegisters = direct_tf32_registers(kTile, kTraits);
  using Operand = DirectTf32Operand<kIsA ? kTraits.a_row_major : !kTraits.b_row_major,
                                    kIsA ? kTile.tile_m : kTile.tile_n>;
};

}  // namespace gemmtune
