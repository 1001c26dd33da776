#pragma once

#include "parts/ptx/shared_access.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/shared/element_types.h"

// Tensor-core products and the matrix loads that feed them (PTX ISA, "Warp-level matrix
// instructions": "ldmatrix", "mma"). Shared memory is addressed by its 32-bit addresses.

namespace gemmtune {

// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8, and
// receives of each matrix elements 2 * (l % 4) and the next of row l / 4. kTransposed: of column
// l / 4.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned address) {
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
  }
}

// A 16 x 8 tile of sums. A lane holds elements (l / 4, 2 * (l % 4)) and the next, and those 8 rows
// further down.
template <ElementType kAccumulator>
struct MmaSums {
  float at[4] = {};

  // Element `column` (0 or 1) of the upper (half = 0) or the lower row.
  __device__ __forceinline__ float get(int half, int column) const { return at[2 * half + column]; }
};
template <>
struct MmaSums<kF16> {
  unsigned at[2] = {};  // two halves each

  __device__ __forceinline__ float get(int half, int column) const {
    const auto bits = static_cast<unsigned short>(at[half] >> (16 * column));
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
// sums += a * b, 16 x 8 x 8, of f16: what there is on sm_75.
__device__ __forceinline__ void mma_8_deep(MmaSums<kF32>& sums, unsigned a0, unsigned a1,
                                           unsigned b) {
  float(&d)[4] = sums.at;
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ void mma_8_deep(MmaSums<kF16>& sums, unsigned a0, unsigned a1,
                                           unsigned b) {
  unsigned(&d)[2] = sums.at;
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a0), "r"(a1), "r"(b));
}

// As below, in two steps.
template <ElementType kType, class Sums>
__device__ __forceinline__ void mma(Sums& sums, const unsigned (&a)[4], unsigned b0, unsigned b1) {
  static_assert(kType == kF16, "bf16 is for sm_80 and up");
  mma_8_deep(sums, a[0], a[1], b0);
  mma_8_deep(sums, a[2], a[3], b1);
}
#else
// sums += a * b, 16 x 8 x 16. a holds rows 0-7 and 8-15 of k 0-7, then of k 8-15; b holds k 0-7 and
// 8-15.
template <ElementType kType>
__device__ __forceinline__ void mma(MmaSums<kF32>& sums, const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
  float(&d)[4] = sums.at;
  if constexpr (kType == kBf16) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    static_assert(kType == kF16, "16-bit types are f16 and bf16");
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

template <ElementType kType>
__device__ __forceinline__ void mma(MmaSums<kF16>& sums, const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
  static_assert(kType == kF16, "f16 sums are of f16 products");
  unsigned(&d)[2] = sums.at;
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif

// sums += a * b, 16 x 8 x 8, of tf32: 32-bit values whose lower 13 bits are ignored. a holds rows
// 0-7 and 8-15 of k 0-3, then of k 4-7; b holds k 0-3 and 4-7.
__device__ __forceinline__ void mma_tf32(float (&sums)[4], const unsigned (&a)[4], unsigned b0,
                                         unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace gemmtune
