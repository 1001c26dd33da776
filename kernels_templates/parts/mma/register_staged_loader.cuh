#pragma once

#include "parts/mma/half_register_loader.cuh"
#include "parts/mma/mma_tile_loader.cuh"

// MmaTileLoader where there is no cp.async (before sm_80): the next tile's loads all begin where
// its copies would, and what they brought waits in registers until land(), which is where copies
// would be waited for. So one tile is on its way at a time: two shared-memory buffers, no more.

namespace gemmtune {

template <int kTileMn, int kTileK, int kThreads, int kVector, bool kContiguousK>
class RegisterStagedLoader {
  using Rows = typename MmaTile<kTileMn, kTileK, kContiguousK, 2>::Rows;

 public:
  __device__ __forceinline__ RegisterStagedLoader(const char* base, long long ld, int start,
                                                  int extent, int thread)
      : loader_(base, ld, start, extent, thread) {}

  // Starts loading the tile if this is its first part.
  template <int kPart, int kParts>
  __device__ __forceinline__ void copy_part(unsigned tile, int k_left) {
    if constexpr (kPart == 0) {
      loader_.fetch(k_left);
      to_ = tile;
      pending_ = true;
    }
  }

  // Stores what was loaded last, once, to its tile. Nobody may read that any more.
  __device__ __forceinline__ void land() {
    if (pending_) loader_.store(to_);
    pending_ = false;
  }

 private:
  // Of f16, as bits: nothing is converted.
  HalfRegisterLoader<kF16, kTileMn, kTileK, kThreads, kVector, kContiguousK, Rows> loader_;
  unsigned to_ = 0;
  bool pending_ = false;
};

}  // namespace gemmtune
