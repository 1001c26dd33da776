#pragma once

#include "parts/ptx/elect.cuh"
#include "parts/ptx/mbarrier.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/tensor_map.h"
#include "parts/shared/wgmma_tiles.h"

// What C holds of a warp's part of a tile, fetched by TMA into the buffers that its boxes are
// stored from: as many boxes as there are buffers before the tile is multiplied, while L2 is asked
// for the others; each other one once the box has been stored that was in its buffer.
//
//     box:      0      1      2                      3
//     buffer 0: fetch                 store  fetch          store
//     buffer 1:        fetch                 store  fetch          store
//
// A buffer has a barrier, which counts the bytes that arrive.

namespace gemmtune {

// Of kOfTile boxes, kAcross of them side by side.
template <WgmmaBoxes kBoxes, int kAcross, int kOfTile>
struct BoxFetch {
  static constexpr int kBuffers = kBoxes.buffers;
  // How many boxes are stored after the one whose buffer is filled again: with more than one,
  // nobody waits for what was stored just before.
  static constexpr int kBehind = kBuffers > 2 ? 2 : 1;

  const TensorMap& c;
  unsigned buffers;  // addresses in shared memory
  unsigned barriers;
  unsigned is_odd = 0;  // how many tiles were fetched before, modulo 2

  // By a warp, once.
  __device__ __forceinline__ void begin() const {
    if (is_elected()) {
      prefetch_tensor_map(c);
      for (int i = 0; i < kBuffers; ++i) mbarrier_init(barriers + i * kBarrierBytes, 1);
      mbarrier_init_fence();
    }
    __syncwarp();
  }

  // By a warp, before a tile is multiplied; (row, column) of entry `batch` of C is where its rows
  // begin.
  __device__ __forceinline__ void start(int batch, int row, int column) const {
    if (!is_elected()) return;
    wait_for_stored_boxes<0>();
#pragma unroll
    for (int box = 0; box < kOfTile; ++box) {
      if (box < kBuffers) {
        load(box, batch, row, column);
      } else {
        prefetch_box(c, column_of(box, column), row_of(box, row), batch);
      }
    }
  }

  // By the thread that stores boxes, before it waits for box `box` of the tile.
  __device__ __forceinline__ void go_on(int box, int batch, int row, int column) const {
    const int next = box - kBehind + kBuffers;
    if (box < kBehind || next >= kOfTile) return;
    wait_for_stored_boxes<kBehind - 1>();
    load(next, batch, row, column);
  }

  // Until box `box` has arrived.
  __device__ __forceinline__ void await(int box) const {
    const int fillings = (kOfTile - box % kBuffers + kBuffers - 1) / kBuffers;
    mbarrier_wait(barrier(box), (box / kBuffers + fillings % 2 * is_odd) % 2);
  }

  __device__ __forceinline__ void end_tile() {
    is_odd ^= 1;
  }

 private:
  __device__ __forceinline__ unsigned barrier(int box) const {
    return barriers + box % kBuffers * kBarrierBytes;
  }
  static __device__ __forceinline__ int row_of(int box, int row) {
    return row + box / kAcross * kWgmmaRows;
  }
  static __device__ __forceinline__ int column_of(int box, int column) {
    return column + box % kAcross * kBoxes.columns;
  }

  __device__ __forceinline__ void load(int box, int batch, int row, int column) const {
    mbarrier_arrive_expect(barrier(box), kBoxes.bytes());
    load_box<false>(buffers + box % kBuffers * kBoxes.bytes(), c, column_of(box, column),
                    row_of(box, row), batch, barrier(box));
  }
};

// Of kernels that read C when they store it.
struct NoBoxFetch {};

}  // namespace gemmtune
