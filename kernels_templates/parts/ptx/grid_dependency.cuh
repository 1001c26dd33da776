#pragma once

// Programmatic dependent launch (sm_90 and up; PTX ISA, "griddepcontrol"): a kernel that is launched
// so may start while the one before it on its stream still runs. Launched otherwise, neither has an
// effect.

namespace gemmtune {

// Waits until the kernels before this one have ended and what they wrote is visible. Every thread of
// a kernel comes here before it reads or writes device memory, also one that has nothing to do: the
// next kernel takes this one's end for the end of all before it.
__device__ __forceinline__ void await_kernels_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next kernel start once all blocks have come here.
__device__ __forceinline__ void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// At the start of a kernel: its blocks are resident before the next one's ask for their place.
__device__ __forceinline__ void overlap_with_neighbours() {
  let_next_kernel_start();
  await_kernels_before();
}

}  // namespace gemmtune
