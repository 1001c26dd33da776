#pragma once

// A word of shared memory by its 32-bit address, as shared_access.cuh has several.

namespace gemmtune {

__device__ __forceinline__ float load_shared_float(unsigned address) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address) : "memory");
  return x;
}

__device__ __forceinline__ void store_shared(unsigned address, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(x) : "memory");
}

}  // namespace gemmtune
