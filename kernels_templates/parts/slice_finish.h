#pragma once

// How the work of adding up the slices' partial products in the workspace (slice_sum.cuh) is cut
// into blocks. Shared by host and device; compiled by NVRTC, so nothing is included here.

#ifdef __CUDACC__
#define GEMMTUNE_SHARED __host__ __device__
#else
#define GEMMTUNE_SHARED
#endif

namespace gemmtune {

constexpr int kSliceFinishThreads = 256;  // a block

// Vectors of C a block, of `vector` floats each. Few where there are many slices: C is small then,
// and all SMs should help.
GEMMTUNE_SHARED constexpr int slice_finish_vectors(int slices, int vector) {
  return slices >= 64 ? 32 / vector : 32;
}

}  // namespace gemmtune
