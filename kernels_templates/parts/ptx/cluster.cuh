#pragma once

#include "parts/ptx/vector_access.cuh"

// Thread block clusters (sm_90 and up): barrier and reads of another block's shared memory (PTX
// ISA, "barrier.cluster", "mapa", "ld.shared::cluster").

namespace gemmtune {

// All threads of all blocks of the cluster; shared-memory writes before it are visible after it.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

// All of them, too, but nothing that they wrote before is released, which would take a fence of the
// whole device: for barriers after mbarrier_init_fence(), and before a block leaves.
__device__ __forceinline__ void cluster_meet() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

// Floats of block `rank`'s shared memory, 1 or 4, at the place that `local` has in this block's.
template <int kWidth>
__device__ __forceinline__ FloatVector<kWidth> cluster_load(const float* local, int rank) {
  const unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(local));
  unsigned there;
  FloatVector<kWidth> out;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  if constexpr (kWidth == 4) {
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(out.v[0]), "=f"(out.v[1]), "=f"(out.v[2]), "=f"(out.v[3])
                 : "r"(there)
                 : "memory");
  } else {
    static_assert(kWidth == 1, "widths are 1 and 4");
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(out.v[0]) : "r"(there) : "memory");
  }
  return out;
}

}  // namespace gemmtune
