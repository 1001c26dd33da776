#pragma once

#include "parts/mma/staged_elements.cuh"
#include "parts/mma/tile_thread_map.cuh"
#include "parts/shared/mma_tiles.h"

// Brings kTileMn x kTileK tiles of A or B, elements of kType, from global to shared memory, where
// they have 16 bits (f32 becomes f16), through registers, in two steps, so that the loads of the
// next tile are in flight while this one is multiplied: where there is no cp.async (before sm_80),
// or where elements are converted on their way.
//
// Threads share out a tile as tile_thread_map.cuh says. One access moves kVector elements; with
// kVector = 1 pairs are put together from two loads. What lies outside the operand is zero and is
// not read.

namespace gemmtune {

template <ElementType kType, int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK,
          class Rows>
class HalfRegisterLoader
    : TileThreadMap<kTileMn, kTileK, kThreads, copied_elements_at_once(kVector, 2), kContiguousK,
                    Rows, sizeof(typename StoredElement<kType>::Type), 2> {
  using Element = typename StoredElement<kType>::Type;
  using Map = TileThreadMap<kTileMn, kTileK, kThreads, copied_elements_at_once(kVector, 2),
                            kContiguousK, Rows, sizeof(Element), 2>;

 public:
  // As TileThreadMap's.
  __device__ __forceinline__ HalfRegisterLoader(const char* base, long long ld, int start,
                                                int extent,
                                                int thread = static_cast<int>(threadIdx.x))
      : Map(base, ld, start, extent, thread) {}

  // Loads the next tile, of which the first `k_left` values of k exist.
  __device__ __forceinline__ void fetch(int k_left) {
#pragma unroll
    for (int i = 0; i < Map::kLineSteps; ++i) {
#pragma unroll
      for (int j = 0; j < Map::kColumns; ++j) {
        staged_[i][j].load(reinterpret_cast<const Element*>(this->from(j)),
                           this->exists(i, j, 0, k_left), this->exists(i, j, 1, k_left));
      }
      this->next_line();
    }
    this->next_tile();
  }

  // Writes what was loaded last to the shared tile.
  __device__ __forceinline__ void store(unsigned tile) const {
#pragma unroll
    for (int i = 0; i < Map::kLineSteps; ++i) {
#pragma unroll
      for (int j = 0; j < Map::kColumns; ++j) {
        store_shared(tile + this->offset_of(i, j), staged_[i][j].packed());
      }
    }
  }

 private:
  StagedElements<kType, kVector> staged_[Map::kLineSteps][Map::kColumns];
};

}  // namespace gemmtune
