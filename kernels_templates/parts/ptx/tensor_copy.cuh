#pragma once

#include "parts/shared/tensor_map.h"

// Copies of boxes of a tensor by TMA (sm_90 and up; PTX ISA, "cp.async.bulk.tensor"). One thread
// issues one; elements outside the tensor are zeros.

namespace gemmtune {

__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// The box at element (x, y) of entry z of a tensor, x being contiguous, to shared memory at `to`;
// its bytes are counted by `barrier`.
__device__ __forceinline__ void load_box(unsigned to, const TensorMap& map, int x, int y, int z,
                                         unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

// The same to the same places in those blocks of the cluster whose bits are set in `blocks`.
__device__ __forceinline__ void load_box_to_blocks(unsigned to, const TensorMap& map, int x, int y,
                                                   int z, unsigned barrier, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(blocks)
      : "memory");
}

}  // namespace gemmtune
