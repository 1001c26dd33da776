#pragma once

#include "parts/ptx/cache_policy.cuh"
#include "parts/shared/tensor_map.h"

// Copies by TMA (sm_90 and up; PTX ISA, "cp.async.bulk.tensor", "cp.async.bulk"), most of them of
// boxes of a tensor. One thread issues one; elements outside the tensor are zeros.

namespace gemmtune {

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The box at element (x, y) of entry z of a tensor, x being contiguous, to shared memory at `to`;
// its bytes are counted by `barrier`. kOnce: L2 need not keep it.
template <bool kOnce>
__device__ __forceinline__ void load_box(unsigned to, const TensorMap& map, int x, int y, int z,
                                         unsigned barrier) {
  if constexpr (kOnce) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "l"(kEvictFirst)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
        : "memory");
  }
}

// The same to the same places in those blocks of the cluster whose bits are set in `blocks`.
template <bool kOnce>
__device__ __forceinline__ void load_box_to_blocks(unsigned to, const TensorMap& map, int x, int y,
                                                   int z, unsigned barrier, unsigned short blocks) {
  if constexpr (kOnce) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(blocks), "l"(kEvictFirst)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(blocks)
        : "memory");
  }
}

// Plain bytes; both addresses and their number are multiples of 16.
__device__ __forceinline__ void load_bytes(unsigned to, const void* from, int bytes,
                                           unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Asks L2 for the box.
__device__ __forceinline__ void prefetch_box(const TensorMap& map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(&map),
               "r"(x), "r"(y), "r"(z)
               : "memory");
}

// The other way: what lies outside the tensor is left out. What threads wrote to the box before is
// seen after tensor_store_fence() by each of them.
__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, int z,
                                          unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          &map),
      "r"(x), "r"(y), "r"(z), "r"(from)
      : "memory");
}

// Makes a group of the boxes that the thread has stored since the last one.
__device__ __forceinline__ void commit_stored_boxes() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void tensor_store_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Waits until the thread's groups of boxes, but for the last kGroups, have been read.
template <int kGroups>
__device__ __forceinline__ void wait_for_stored_boxes() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
}

// The same for the buffer of group `count` of a tile, where kBuffers of them are filled in turns.
template <int kBuffers>
__device__ __forceinline__ void wait_for_free_buffer(int count) {
  if (count == 0) {
    wait_for_stored_boxes<0>();
  } else {
    wait_for_stored_boxes<kBuffers - 1>();
  }
}

}  // namespace gemmtune
