#pragma once

#include "parts/ptx/vector_access.cuh"

// Shared memory by its 32-bit addresses: computing 64-bit ones takes longer than the access.

namespace gemmtune {

__device__ __forceinline__ unsigned load_shared_word(unsigned address) {
  unsigned word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}

__device__ __forceinline__ FloatVector<2> load_shared_pair(unsigned address) {
  FloatVector<2> x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(x.v[0]), "=f"(x.v[1])
               : "r"(address)
               : "memory");
  return x;
}

__device__ __forceinline__ void store_shared_pair(unsigned address, const FloatVector<2>& x) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(x.v[0]), "f"(x.v[1])
               : "memory");
}

__device__ __forceinline__ void store_shared_four(unsigned address, const FloatVector<4>& x) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(address), "f"(x.v[0]), "f"(x.v[1]),
               "f"(x.v[2]), "f"(x.v[3])
               : "memory");
}

}  // namespace gemmtune
