#pragma once

// Four 8 x 8 matrices of 16-bit elements from the registers of a warp to shared memory (sm_90 and
// up; PTX ISA, "stmatrix"). words[i] holds the lane's pair of matrix i; lane 8 * i + r gives the
// address of row r of matrix i, a multiple of 16.

namespace gemmtune {

__device__ __forceinline__ void store_matrices(unsigned address, const unsigned (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
               : "memory");
}

}  // namespace gemmtune
