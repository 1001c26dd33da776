#pragma once

// Asynchronous copies from global to shared memory (PTX ISA, "cp.async"; sm_80 and up). They bypass
// the registers, and are waited for in groups.

namespace gemmtune {

// Copies kBytes (4, 8 or 16) if `valid`, else fills the destination with zeros and reads nothing.
// `to` is an address in shared memory.
template <int kBytes>
__device__ __forceinline__ void cp_async_or_zero(unsigned to, const void* from, bool valid) {
  const int bytes = valid ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
}
template <int kBytes>
__device__ __forceinline__ void cp_async_or_zero(float* to, const float* from, bool valid) {
  cp_async_or_zero<kBytes>(static_cast<unsigned>(__cvta_generic_to_shared(to)), from, valid);
}

// Closes the group of all copies this thread has issued since the last one.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most kPending of this thread's groups are unfinished.
template <int kPending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace gemmtune
