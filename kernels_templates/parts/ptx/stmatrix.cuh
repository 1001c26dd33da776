#pragma once

// 8 x 8 matrices of 16-bit elements, four or two, from the registers of a warp to shared memory
// (sm_90 and up; PTX ISA, "stmatrix"). words[i] holds the lane's pair of matrix i, elements
// 2 * (lane % 4) and the next of row lane / 4, or, kTransposed, of column lane / 4; lane 8 * i + r
// gives the address of row r of matrix i, a multiple of 16.

namespace gemmtune {

template <bool kTransposed = false, int kMatrices>
__device__ __forceinline__ void store_matrices(unsigned address,
                                               const unsigned (&words)[kMatrices]) {
  static_assert(kMatrices == 4 || kMatrices == 2, "four or two");
  if constexpr (kMatrices == 4) {
    if constexpr (kTransposed) {
      asm volatile(
          "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
          "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
          : "memory");
    } else {
      asm volatile(
          "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
          "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
          : "memory");
    }
  } else if constexpr (kTransposed) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
                 "r"(words[0]), "r"(words[1])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(address),
                 "r"(words[0]), "r"(words[1])
                 : "memory");
  }
}

}  // namespace gemmtune
