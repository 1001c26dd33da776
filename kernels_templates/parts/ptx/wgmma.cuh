#pragma once

// What the asynchronous products of a warpgroup need beside the instruction itself (sm_90a; PTX
// ISA, "Asynchronous Warpgroup Level Matrix Instructions").

namespace gemmtune {

// Before the first product, and after registers of sums were written otherwise.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Ends a group of products.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most kGroups groups of products are under way.
template <int kGroups>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}

// Describes an operand in shared memory, which begins at `address`, in lines of 128 or 64 bytes,
// swizzled over that. Groups of 8 lines follow each other; `across_bytes` lie between lines side by
// side, which matters only where lines run along m or n.
template <int kLineBytes>
__device__ __forceinline__ unsigned long long wgmma_descriptor(unsigned address,
                                                               unsigned across_bytes) {
  static_assert(kLineBytes == 128 || kLineBytes == 64, "others are not used");
  constexpr unsigned long long kSwizzle = (kLineBytes == 128 ? 1ULL : 2ULL) << 62;
  constexpr unsigned long long kGroupBytes = 8 * kLineBytes;
  return kSwizzle | (kGroupBytes >> 4) << 32 |
         static_cast<unsigned long long>((across_bytes & 0x3FFFF) >> 4) << 16 |
         (address & 0x3FFFF) >> 4;
}

// The descriptor of what lies `bytes` further on, within the first 256 KB of shared memory.
__device__ __forceinline__ unsigned long long wgmma_advanced(unsigned long long descriptor,
                                                             int bytes) {
  return descriptor + static_cast<unsigned>(bytes >> 4);
}

// All warps of a warpgroup give registers back, or take more, up to kRegisters per thread.
template <int kRegisters>
__device__ __forceinline__ void give_registers_back() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace gemmtune
