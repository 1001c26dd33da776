#pragma once

// How the work of adding up partial sums in the workspace (mma_partials.cuh) is cut into blocks.
// Shared by host and device; compiled by NVRTC, so nothing is included here.

#ifdef __CUDACC__
#define GEMMTUNE_SHARED __host__ __device__
#else
#define GEMMTUNE_SHARED
#endif

namespace gemmtune {

constexpr int kPartialPadding = 8;      // floats at the end of a row in shared memory
constexpr int kPartialVector = 4;       // floats that are read at a time
constexpr int kMmaFinishThreads = 256;  // a block

// Groups of warps that share out the slots of a tile: a power of two, so few that each has several
// slots to wait for at once.
GEMMTUNE_SHARED constexpr int finish_ways(int slots) {
  return slots >= 16 ? 8 : slots >= 8 ? 4 : slots >= 4 ? 2 : 1;
}

// Blocks for a tile of `floats` sums.
GEMMTUNE_SHARED constexpr int finish_pieces(int floats, int ways) {
  return (floats / kPartialVector * ways + kMmaFinishThreads - 1) / kMmaFinishThreads;
}

}  // namespace gemmtune
