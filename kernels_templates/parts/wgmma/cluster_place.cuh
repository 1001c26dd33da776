#pragma once

#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// A block's place in its cluster of cluster_m x cluster_n blocks, whose ranks run along n:
//
//     0 1      blocks of a row share tiles of A, blocks of a column tiles of B
//     2 3

namespace gemmtune {

template <TileConfig kTile>
struct ClusterPlace {
  static constexpr int kM = at_least_one(kTile.cluster_m);
  static constexpr int kN = at_least_one(kTile.cluster_n);
  static constexpr int kBlocks = kM * kN;

  int m;
  int n;

  // Consecutive blocks make up a cluster.
  static __device__ __forceinline__ ClusterPlace of_block() {
    const int rank = static_cast<int>(blockIdx.x) % kBlocks;
    return {rank / kN, rank % kN};
  }

  // Bits of the ranks that share the block's tile of A, and of B.
  __device__ __forceinline__ unsigned short row() const {
    return static_cast<unsigned short>(((1 << kN) - 1) << (m * kN));
  }
  __device__ __forceinline__ unsigned short column() const {
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < kM; ++i) bits |= 1U << (i * kN + n);
    return static_cast<unsigned short>(bits);
  }

  // Blocks that copy into this one's shared memory, or that it copies into, itself included.
  static constexpr int kSharers = kM + kN - 1;
};

}  // namespace gemmtune
