#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/ptx/shared_access.cuh"
#include "parts/ptx/stmatrix.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/wgmma_tiles.h"

// The lines of a box in shared memory, as TMA expects them, and what a lane of the warp that fills
// it has there: a pair of neighbouring columns of each 8, of rows lane / 4 and lane / 4 + 8.

namespace gemmtune {

template <ElementType kType, WgmmaBoxes kBoxes>
struct BoxLines {
  unsigned box;   // addresses in shared memory
  unsigned pair;  // of the lane's pair of the first row and the first 8 columns, in the box

  static __device__ __forceinline__ BoxLines at(unsigned box) {
    const int lane = reread_thread_index() % 32;  // not kept while the tile is multiplied
    const int byte = lane % 4 * 2 * kBoxes.element_bytes;
    return {box, offset(lane / 4, byte / 16) + static_cast<unsigned>(byte % 16)};
  }

  // The address of 16 bytes of a line.
  __device__ __forceinline__ unsigned chunk(int line, int at) const {
    return box + offset(line, at);
  }

  // The lane's pair of columns 8 * eight to 8 * eight + 7, of the first or second row.
  __device__ __forceinline__ FloatVector<2> load(int eight, int half) const {
    if constexpr (kBoxes.element_bytes == 4) {
      return load_shared_pair(place(eight, half));
    } else {
      unsigned both;
      load_shared(both, place(eight, half));
      return {from_half<kType>(static_cast<unsigned short>(both)),
              from_half<kType>(static_cast<unsigned short>(both >> 16))};
    }
  }

  // Of 32-bit elements.
  __device__ __forceinline__ void store_pair(int eight, int half,
                                             const FloatVector<2>& values) const {
    store_shared_pair(place(eight, half), values);
  }

  // Pairs of both rows and kEights times 8 columns, one or two, rounded. By all lanes together:
  // they store 16-bit elements for each other.
  template <int kEights>
  __device__ __forceinline__ void store(int eight,
                                        const FloatVector<2> (&pairs)[kEights][2]) const {
    if constexpr (kBoxes.element_bytes == 4) {
#pragma unroll
      for (int i = 0; i < 2 * kEights; ++i) store_pair(eight + i / 2, i % 2, pairs[i / 2][i % 2]);
    } else {
      unsigned words[2 * kEights];
#pragma unroll
      for (int i = 0; i < 2 * kEights; ++i) {
        const FloatVector<2>& values = pairs[i / 2][i % 2];
        words[i] = to_half_pair<kType>(values.v[0], values.v[1]);
      }
      // What the lane tells stmatrix: the place of row lane % 16 in columns 0-7, or in 8-15.
      const int lane = static_cast<int>(threadIdx.x) % 32;
      store_matrices(chunk(lane % 16, eight + (kEights > 1 ? lane / 16 : 0)), words);
    }
  }

 private:
  // Rows 8 apart are swizzled alike, and an even number of 16 bytes, or 16 bytes, along a line
  // flips the bits of the address that it would else add to.
  __device__ __forceinline__ unsigned place(int eight, int half) const {
    const unsigned along = static_cast<unsigned>(eight * 8 * kBoxes.element_bytes);
    const unsigned in_box = kBoxes.swizzled() ? pair ^ along : pair + along;
    return box + in_box + static_cast<unsigned>(half * 8 * kBoxes.line_bytes());
  }

  static __device__ __forceinline__ unsigned offset(int line, int at) {
    return static_cast<unsigned>(line * kBoxes.line_bytes() + (swizzled(at, line) << 4));
  }

  static __device__ __forceinline__ int swizzled(int at, int line) {
    if constexpr (!kBoxes.swizzled()) return at;
    constexpr int kChunks = kBoxes.line_bytes() / 16;
    return at ^ line * kBoxes.line_bytes() / kTmaLineBytes % kChunks;
  }
};

}  // namespace gemmtune
