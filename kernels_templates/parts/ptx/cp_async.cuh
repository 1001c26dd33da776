#pragma once

#include "parts/ptx/cache_policy.cuh"

// Asynchronous copies from global to shared memory (PTX ISA, "cp.async"; sm_80 and up). They bypass
// the registers, and are waited for in groups.

namespace gemmtune {

// Copies kBytes (4, 8 or 16) if `valid`, else fills the destination with zeros and reads nothing.
// `to` is an address in shared memory. kOnce: L2 need not keep 16 bytes that are read.
template <int kBytes, bool kOnce = false>
__device__ __forceinline__ void cp_async_or_zero(unsigned to, const void* from, bool valid) {
  const int bytes = valid ? kBytes : 0;
  if constexpr (kBytes == 16 && kOnce) {
    // ptxas 13.0 makes an illegal instruction of a policy and an address in uniform registers. An
    // aligned address has no lowest bit, which it does not know.
    const auto own = to | (static_cast<unsigned>(reinterpret_cast<unsigned long long>(from)) & 1U);
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(own),
                 "l"(from), "r"(bytes), "l"(kEvictFirst)
                 : "memory");
  } else if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
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
