#pragma once

// One thread of a warp (sm_90 and up; PTX ISA, "elect.sync").

namespace gemmtune {

// True for one thread of a warp, all of whose threads come here together. The compiler sees that a
// branch on it is taken by one thread, which one on threadIdx does not tell it: instructions that
// take their operands from the warp's registers, as TMA copies do, need no loop over threads then.
// To be asked in the branch itself: joined with another condition in a variable, it tells nothing.
__device__ __forceinline__ bool is_elected() {
  int elected;
  asm volatile(
      "{\n\t"
      ".reg .pred p;\n\t"
      "elect.sync _|p, 0xffffffff;\n\t"
      "selp.s32 %0, 1, 0, p;\n\t"
      "}"
      : "=r"(elected));
  return elected != 0;
}

}  // namespace gemmtune
