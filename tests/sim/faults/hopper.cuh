// Instructions of sm_90a for the kernels of this folder.
#pragma once
#include <cstdint>

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// --- mbarrier ---
__device__ inline void init(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}
__device__ inline void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ inline void expect(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ inline bool has_passed(uint64_t* barrier, int parity) {
  int passed;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
      : "=r"(passed)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return passed != 0;
}
__device__ inline void wait(uint64_t* barrier, int parity) {
  while (!has_passed(barrier, parity)) {
  }
}

// --- bulk copies ---
__device__ inline void load(void* to, const void* from, int bytes, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
__device__ inline void store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// --- wgmma: 64 x 8 sums of f16 products, without a swizzle ---
// The sums are pinned: the compiler moves what sets them behind the fence otherwise.
__device__ inline void wgmma_fence(float (&d)[4]) {
  asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
constexpr int kABytes = 64 * 16 * 2;
constexpr int kBBytes = 8 * 16 * 2;
__device__ inline uint64_t descriptor(const void* matrix) {
  // 128 bytes between the two halves of k, 256 between groups of 8 rows
  return uint64_t{256 >> 4} << 32 | uint64_t{128 >> 4} << 16 | shared_address(matrix) >> 4;
}
__device__ inline void multiply(float (&d)[4], uint64_t a, uint64_t b) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, 1, 0; "
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b)
      : "memory");
}
