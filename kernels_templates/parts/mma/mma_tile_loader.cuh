#pragma once

#include "parts/mma/staged_elements.cuh"
#include "parts/mma/swizzled_rows.cuh"
#include "parts/mma/tile_thread_map.cuh"
#include "parts/ptx/cp_async.cuh"
#include "parts/shared/mma_tiles.h"

// Brings kTileMn x kTileK tiles of A or B, elements of 16 or 32 bits, from global to swizzled
// shared memory (swizzled_rows.cuh), tile after tile along k.
//
// Threads share out a tile as tile_thread_map.cuh says. One access moves kVector elements by
// cp.async of 16, 8 or 4 bytes. A 16-bit operand of which nothing is known (kVector = 1) passes
// through registers, two loads and one store a pair. What lies outside the operand is filled with
// zeros without being read (cp.async with a source size of 0). kOnce: as KernelTraits says of the
// operand.

namespace gemmtune {

// One of the two tiles of a shared-memory buffer.
template <int kTileMn, int kTileK, bool kContiguousK, int kElementBytes>
struct MmaTile {
  static constexpr int kLines = kContiguousK ? kTileMn : kTileK;
  static constexpr int kLine = kContiguousK ? kTileK : kTileMn;  // elements
  using Rows = SwizzledRows<kLine * kElementBytes / 16, !kContiguousK && kElementBytes == 4>;
};

template <int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK, int kElementBytes,
          bool kOnce>
class MmaTileLoader
    : TileThreadMap<kTileMn, kTileK, kThreads, copied_elements_at_once(kVector, kElementBytes),
                    kContiguousK,
                    typename MmaTile<kTileMn, kTileK, kContiguousK, kElementBytes>::Rows,
                    kElementBytes, kElementBytes> {
  using Map = TileThreadMap<kTileMn, kTileK, kThreads,
                            copied_elements_at_once(kVector, kElementBytes), kContiguousK,
                            typename MmaTile<kTileMn, kTileK, kContiguousK, kElementBytes>::Rows,
                            kElementBytes, kElementBytes>;

 public:
  // As TileThreadMap's.
  __device__ __forceinline__ MmaTileLoader(const char* base, long long ld, int start, int extent,
                                           int thread)
      : Map(base, ld, start, extent, thread) {}

  // Starts copying part kPart of kParts of the next tile, of which the first `k_left` values of k
  // exist; parts are asked for in order.
  template <int kPart, int kParts>
  __device__ __forceinline__ void copy_part(unsigned tile, int k_left) {
    constexpr int kBegin = Map::kLineSteps * kPart / kParts;
    constexpr int kEnd = Map::kLineSteps * (kPart + 1) / kParts;
#pragma unroll
    for (int i = kBegin; i < kEnd; ++i) {
#pragma unroll
      for (int j = 0; j < Map::kColumns; ++j) {
        copy(tile + this->offset_of(i, j), this->from(j), this->exists(i, j, 0, k_left),
             this->exists(i, j, 1, k_left));
      }
      this->next_line();
    }
    if constexpr (kPart == kParts - 1) this->next_tile();
  }

 private:
  // An access of which the first and, in a pair, the second element exist.
  static __device__ __forceinline__ void copy(unsigned to, const char* from, bool first,
                                              bool second) {
    if constexpr (kVector * kElementBytes >= 4) {
      cp_async_or_zero<kVector * kElementBytes, kOnce>(to, from, first);
    } else {
      StagedElements<kF16, 1> pair;
      pair.load(reinterpret_cast<const unsigned short*>(from), first, second);
      store_shared(to, pair.packed());
    }
  }
};

}  // namespace gemmtune
