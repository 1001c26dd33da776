#pragma once

#include "parts/ptx/vector_access.cuh"

// Stores into the shared memory of another block of the cluster, which a barrier of that block
// counts as they arrive (sm_90 and up; PTX ISA, "st.async", "mapa", "barrier.cluster"). Addresses
// are of shared memory.

namespace gemmtune {

// The halves of cluster_meet(): what lies between them is done while others are still on their way.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Where block `rank` has what lies at `here` in this one.
__device__ __forceinline__ unsigned address_in_block(unsigned here, int rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  return there;
}

// Stores 2 or 4 floats at `to`, aligned to them, and has `barrier` count their bytes; both are of
// one block.
template <int kWidth>
__device__ __forceinline__ void store_in_block(unsigned to, const FloatVector<kWidth>& x,
                                               unsigned barrier) {
  if constexpr (kWidth == 4) {
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
        "[%5];" ::"r"(to),
        "f"(x.v[0]), "f"(x.v[1]), "f"(x.v[2]), "f"(x.v[3]), "r"(barrier)
        : "memory");
  } else {
    static_assert(kWidth == 2, "widths are 2 and 4");
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
            to),
        "f"(x.v[0]), "f"(x.v[1]), "r"(barrier)
        : "memory");
  }
}

// Waits for the phase of this parity of a barrier that counts stores of other blocks.
__device__ __forceinline__ void await_stores(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "again:\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n\t"
      "@!p bra again;\n\t"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace gemmtune
