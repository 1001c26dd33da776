#pragma once

// Programmatic dependent launch (sm_90 and up; PTX ISA, "griddepcontrol"): a kernel that is
// launched so may start while the one before it on its stream still runs. Launched otherwise,
// neither has an effect.

namespace gemmtune {

// Waits until the kernels before this one have ended and what they wrote is visible. Threads come
// here before they read or write device memory, and some thread of every block does, even of one
// that has nothing to do: the next kernel takes this one's end for the end of all before it.
__device__ __forceinline__ void await_kernels_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Lets the next kernel start once all blocks have come here: its blocks take the places that this
// one's leave.
__device__ __forceinline__ void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace gemmtune
