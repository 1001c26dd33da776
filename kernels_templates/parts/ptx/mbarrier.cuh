#pragma once

// Barriers in shared memory that count arrivals and the bytes of asynchronous copies (sm_90 and
// up; PTX ISA, "mbarrier"). A phase ends when both counts are met; phases have parity 0, 1, 0, ...
// Addresses are of shared memory.

namespace gemmtune {

__device__ __forceinline__ void mbarrier_init(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to other blocks of the cluster and to asynchronous copies.
__device__ __forceinline__ void mbarrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and says how many bytes of copies the phase waits for.
__device__ __forceinline__ void mbarrier_arrive_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the barrier that lies at the same place in block `rank` of the cluster, once the
// caller has read what it waits to see overwritten: nothing that it wrote is released to that
// block, which would take a fence of the whole device.
__device__ __forceinline__ void mbarrier_arrive_at_block(unsigned barrier, int rank) {
  asm volatile(
      "{\n\t"
      ".reg .b32 there;\n\t"
      "mapa.shared::cluster.u32 there, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// Whether the phase of this parity has ended; the hardware may wait a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait(unsigned barrier, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t"
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ __forceinline__ void mbarrier_wait(unsigned barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace gemmtune
