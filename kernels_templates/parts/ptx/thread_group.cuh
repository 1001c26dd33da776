#pragma once

// The threads that work on one tile together: all of a block, or one of several equal groups of
// whole warps, which wait for each other only where they want to.

namespace gemmtune {

// threadIdx.x, read where it is asked for: what follows from it is computed there too, and is not
// kept in registers through the main loop before it.
__device__ __forceinline__ int reread_thread_index() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

template <int kGroupThreads, int kGroups = 1>
struct ThreadGroup {
  static_assert(kGroupThreads % 32 == 0, "a group is whole warps");
  // Barrier 0 is __syncthreads(); a block has 16.
  static_assert(kGroupThreads == 32 || kGroups <= 15, "each group has a barrier of its own");

  static constexpr int kThreads = kGroupThreads;

  // Of the calling thread: its group in the block, and its place in the group.
  // The group by way of a shuffle: the compiler then knows it to be the same in all of a warp, and
  // keeps what follows from it (buffers, loop counts) in uniform registers.
  static __device__ __forceinline__ int index() {
    if constexpr (kGroups == 1) return 0;
    return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / kThreads, 0);
  }
  static __device__ __forceinline__ int thread() {
    return kGroups == 1 ? static_cast<int>(threadIdx.x) : static_cast<int>(threadIdx.x) % kThreads;
  }

  // Waits for all threads of the group; shared-memory accesses before it are seen after it.
  static __device__ __forceinline__ void sync() {
    if constexpr (kGroups == 1) {
      __syncthreads();
    } else if constexpr (kThreads == 32) {
      __syncwarp();
    } else {
      asm volatile("bar.sync %0, %1;" ::"r"(1 + index()), "n"(kThreads) : "memory");
    }
  }
};

}  // namespace gemmtune
