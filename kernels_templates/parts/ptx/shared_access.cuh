#pragma once

#include "parts/ptx/vector_access.cuh"

// Shared memory by its 32-bit addresses, which take fewer instructions to compute than generic
// ones.

namespace gemmtune {

// A word, or two neighbouring ones.
__device__ __forceinline__ void load_shared(unsigned& to, unsigned address) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(to) : "r"(address) : "memory");
}
__device__ __forceinline__ void load_shared(unsigned& first, unsigned& second, unsigned address) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(first), "=r"(second)
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ FloatVector<2> load_shared_pair(unsigned address) {
  FloatVector<2> x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(x.v[0]), "=f"(x.v[1])
               : "r"(address)
               : "memory");
  return x;
}

// At the address, or at the last one that there is. One instruction to the compiler, which else
// keeps a register for each such address of a loop.
__device__ __forceinline__ FloatVector<2> load_shared_pair(unsigned address, unsigned last) {
  FloatVector<2> x;
  asm volatile("{.reg .b32 at; min.u32 at, %2, %3; ld.shared.v2.f32 {%0, %1}, [at];}"
               : "=f"(x.v[0]), "=f"(x.v[1])
               : "r"(address), "r"(last)
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

__device__ __forceinline__ void store_shared_words(unsigned address, unsigned x, unsigned y,
                                                   unsigned z, unsigned w) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(x), "r"(y), "r"(z),
               "r"(w)
               : "memory");
}

}  // namespace gemmtune
