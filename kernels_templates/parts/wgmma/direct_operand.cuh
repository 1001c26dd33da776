#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/ptx/memory_read.cuh"
#include "parts/ptx/shared_access.cuh"
#include "parts/ptx/unaligned_vector.cuh"
#include "parts/shared/aligned_lines.h"
#include "parts/shared/direct_block.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// An operand of 16-bit elements whose lines begin anywhere, from memory to the tile of a stage as
// TMA would lay it out (operand_tiles.cuh), through the registers of a warpgroup:
//
//     a thread: two aligned 16 bytes -> the 16 bytes across them -> a chunk of a swizzled line
//
// Lines that are 8 apart begin at the same place between multiples of 16 bytes, whatever the
// leading dimension. A warp loads such lines together, four at a time, each by 8 threads; so all of
// its threads shift by as much.
//
//     warp w, part 0: lines w, w + 8, w + 16, ...        part 1: lines w + 4, w + 12, ...
//
// Elements outside the operand are zeros along k. Along m or n they are whatever lies there: sums
// with them are of rows or columns that C does not have.

namespace gemmtune {

// What a thread has loaded of a part of a tile.
struct DirectChunks {
  static constexpr int kCount = 4;

  HalfVector<kAlignedVector> first[kCount];
  HalfVector<kAlignedVector> second[kCount];
  int shift;  // bytes, at which the chunks begin in the first; as much for the whole warp
};

template <bool kContiguousK, int kSide, int kTileK>
struct DirectOperand {
  using Element = unsigned short;
  using Chunks = DirectChunks;
  static constexpr TmaTile kTile{kSide, kTileK, kContiguousK, sizeof(Element)};
  static constexpr int kChunkBytes = 16;
  static constexpr int kChunksOfLine = kTmaLineBytes / kChunkBytes;
  static constexpr int kLinesOfWarp = 32 / kChunksOfLine;  // at a time
  static constexpr int kLinesOfFour = kLinesOfWarp * kSwizzleLines;
  static constexpr int kParts = 2;
  static_assert(kTile.line_bytes == kTmaLineBytes && kTile.box_rows % kLinesOfFour == 0 &&
                    kTile.boxes * kTile.box_rows == kDirectLines &&
                    kDirectLines == DirectChunks::kCount * kLinesOfFour,
                "two parts have all lines");

  const Element* data;  // of the entry
  long long ld;
  int lines;
  int extent;  // of a line

  // Where a thread's chunks are of the tile at (mn, k).
  struct Place {
    const Element* from;  // the first of part 0
    int shift;            // bytes, at which each of those begins behind multiples of 16
    int last_line;        // bytes from the first one's to the operand's last line
    // How many tiles from this one on along k are plain: no chunk is cut off along k, and all
    // aligned 16 bytes that chunks lie in are the operand's.
    int plain;
  };

  __device__ __forceinline__ Place at(int mn, int k) const {
    const int line = (kContiguousK ? mn : k) + first_line();
    const int element = (kContiguousK ? k : mn) + first_element();
    Place place;
    place.from = data + clamped(line) * ld + element;
    place.shift = shift_of(line * ld);
    place.last_line = max(min(lines - 1 - line, kTile.box_rows), 0) * line_bytes();
    place.plain = plain_from(mn, k);
    return place;
  }

  // Tiles further on along k.
  __device__ __forceinline__ void advance(Place& place, int tiles) const {
    place.from += kContiguousK ? tiles * kTileK : tiles * kTileK * ld;
    place.plain -= tiles;
  }

  // Part `part` of a plain tile.
  __device__ __forceinline__ void load(DirectChunks& chunks, const Place& place, int part) const {
    chunks.shift = place.shift + part * kWarpsOfWarpgroup * line_bytes() & (kChunkBytes - 1);
    const auto address = reinterpret_cast<unsigned long long>(place.from);
#pragma unroll
    for (int i = 0; i < DirectChunks::kCount; ++i) {
      const int lines_on = line_of(part, i) * line_bytes();
      const int bytes = (kContiguousK ? min(lines_on, place.last_line) : lines_on) +
                        box_of(part, i) * kTmaLineBytes;
      const auto* const from =
          reinterpret_cast<const Element*>((address + bytes) & ~(kChunkBytes - 1ULL));
      chunks.first[i] = load_halves<kAlignedVector, AsConstant>(from);
      chunks.second[i] = load_halves<kAlignedVector, AsConstant>(from + kAlignedVector);
    }
  }

  // To the tile at `to`, in shared memory.
  static __device__ __forceinline__ void store(const DirectChunks& chunks, unsigned to, int part) {
    store_shifted<8, 0>(chunks, __shfl_sync(0xffffffffu, chunks.shift, 0), own(to, part));
  }

  // From memory to shared memory, of any tile.
  __device__ __forceinline__ void move(int mn, int k, unsigned to, int part) const {
    const int line = (kContiguousK ? mn : k) + first_line();
    const int element = (kContiguousK ? k : mn) + first_element();
    const unsigned at = own(to, part);
    HalfVector<kAlignedVector> chunks[DirectChunks::kCount];
#pragma unroll
    for (int i = 0; i < DirectChunks::kCount; ++i) {
      const int own_line = line + line_of(part, i);
      const int own_element = element + box_of(part, i) * kLineElements;
      chunks[i] = load_singly(data + own_line * ld + own_element,
                              own_line < lines ? extent - own_element : 0);
    }
#pragma unroll
    for (int i = 0; i < DirectChunks::kCount; ++i) store_chunk(at, i, chunks[i]);
  }

 private:
  static constexpr int kLineElements = kTmaLineBytes / static_cast<int>(sizeof(Element));
  static constexpr long long kMostLd = 1 << 22;  // so that a tile's lines are counted in 31 bits

  __device__ __forceinline__ int plain_from(int mn, int k) const {
    const bool begins_before = mn == 0 && k == 0 && shift_of(0) != 0;
    if (begins_before || ld < kAlignedVector || ld > kMostLd) return 0;
    if constexpr (kContiguousK) {
      return max(extent - kAlignedVector - k, 0) / kTileK;
    } else {
      const int beyond = max(mn + kTile.boxes * kLineElements + kAlignedVector - extent, 0);
      const int lines_behind = (beyond + static_cast<int>(ld) - 1) / static_cast<int>(ld);
      return max(lines - lines_behind - k, 0) / kTileK;
    }
  }

  // Of a thread in part 0.
  static __device__ __forceinline__ int first_line() {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 32 % kWarpsOfWarpgroup + thread % 32 / kChunksOfLine * kSwizzleLines;
  }
  static __device__ __forceinline__ int first_element() {
    return static_cast<int>(threadIdx.x) % kChunksOfLine * kAlignedVector;
  }
  __device__ __forceinline__ int line_bytes() const {
    return static_cast<int>(min(ld, kMostLd)) * static_cast<int>(sizeof(Element));
  }

  // A chunk's line before the thread's first one, over all boxes; in its box; and its box.
  static __device__ __forceinline__ int flat_line(int part, int i) {
    return i * kLinesOfFour + part * kWarpsOfWarpgroup;
  }
  static __device__ __forceinline__ int line_of(int part, int i) {
    return flat_line(part, i) % kTile.box_rows;
  }
  static __device__ __forceinline__ int box_of(int part, int i) {
    return flat_line(part, i) / kTile.box_rows;
  }

  __device__ __forceinline__ int clamped(int line) const {
    return kContiguousK ? min(line, lines - 1) : line;
  }

  __device__ __forceinline__ int shift_of(long long elements) const {
    return static_cast<int>(reinterpret_cast<unsigned long long>(data + elements) % kChunkBytes);
  }

  static __device__ __forceinline__ unsigned own(unsigned to, int part) {
    const int line = first_line() + part * kWarpsOfWarpgroup;
    const int chunk = static_cast<int>(threadIdx.x) % kChunksOfLine ^ line % kSwizzleLines;
    return to + line * kTmaLineBytes + chunk * kChunkBytes;
  }

  static __device__ __forceinline__ void store_chunk(unsigned own, int i,
                                                     const HalfVector<kAlignedVector>& x) {
    store_shared_words(own + i * kLinesOfFour * kTmaLineBytes, x.words[0], x.words[1], x.words[2],
                       x.words[3]);
  }

  // A branch for each shift, in which words are where they are: kKnown is its bits from kBit on.
  template <int kBit, int kKnown>
  static __device__ __forceinline__ void store_shifted(const DirectChunks& chunks, int shift,
                                                       unsigned own) {
    constexpr int kAlignment = sizeof(Element);
    if constexpr (kBit < kAlignment) {
#pragma unroll
      for (int i = 0; i < DirectChunks::kCount; ++i)
        store_chunk(own, i, across<kAlignment>(chunks.first[i], chunks.second[i], kKnown));
    } else if ((shift & kBit) != 0) {
      store_shifted<kBit / 2, kKnown + kBit>(chunks, shift, own);
    } else {
      store_shifted<kBit / 2, kKnown>(chunks, shift, own);
    }
  }
};

// The one of two 16-bit operands that TMA cannot copy.
template <TileConfig kTile, KernelTraits kCallers>
struct DirectHalves {
  static constexpr KernelTraits kTraits = kCallers;
  static constexpr bool kIsA = kTraits.vector_a < kAlignedVector;
  static_assert(kIsA != (kTraits.vector_b < kAlignedVector), "TMA copies one operand");
  static constexpr DirectRegisters kRegisters{kTile};
  using Operand = DirectOperand<kIsA ? kTraits.a_row_major : !kTraits.b_row_major,
                                kIsA ? kTile.tile_m : kTile.tile_n, kTile.tile_k>;
};

}  // namespace gemmtune
