#pragma once

// How an access reads memory.

namespace gemmtune {

// What anybody may have written.
struct AsWritten {
  template <class T>
  static __device__ __forceinline__ T of(const T* from) {
    return *from;
  }
};

// What nobody writes while the kernel runs; it does not go through C's cache lines.
struct AsConstant {
  template <class T>
  static __device__ __forceinline__ T of(const T* from) {
    return __ldg(from);
  }
};

// As AsConstant, where the program has it: other loads and stores like it stay before or behind it.
__device__ __forceinline__ float load_constant_in_order(const float* from) {
  float out;
  asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(out) : "l"(from));
  return out;
}

// Has L2 fetch the 128 bytes that `from` lies in.
__device__ __forceinline__ void prefetch_l2(const void* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

}  // namespace gemmtune
