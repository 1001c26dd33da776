#pragma once

// Thread block clusters (sm_90 and up): barrier and reads of another block's shared memory (PTX
// ISA, "barrier.cluster", "mapa", "ld.shared::cluster").

namespace gemmtune {

// All threads of all blocks of the cluster; shared-memory writes before it are visible after it.
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

// Four floats of block `rank`'s shared memory, at the place that `local` has in this block's.
__device__ __forceinline__ float4 cluster_load(const float* local, int rank) {
  const unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(local));
  unsigned there;
  float4 out;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(out.x), "=f"(out.y), "=f"(out.z), "=f"(out.w)
               : "r"(there)
               : "memory");
  return out;
}

// The same for one float.
__device__ __forceinline__ float cluster_load_float(const float* local, int rank) {
  const unsigned here = static_cast<unsigned>(__cvta_generic_to_shared(local));
  unsigned there;
  float out;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(out) : "r"(there) : "memory");
  return out;
}

}  // namespace gemmtune
