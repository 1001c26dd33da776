#pragma once

#include "parts/shared/element_types.h"

// Warp-wide products of 16 x 16 x 16 as nvcuda::wmma has them, under its names: fragments whose
// layout over the lanes is the hardware's own affair, load_matrix_sync, mma_sync,
// store_matrix_sync. By PTX (PTX ISA, "Warp-level matrix instructions: wmma"), the instructions
// that <mma.h> wraps: that header brings <cuda_fp16.h> and <cuda_bf16.h> along, and where only
// NVRTC is installed there is none of them. Matrices lie in shared memory, from addresses that are
// multiples of 32 bytes on, in lines of `ld` elements that are a multiple of 16 bytes (CUDA C++
// Programming Guide, "Warp Matrix Functions").

namespace gemmtune::wmma {

enum Use : int { kMatrixA, kMatrixB };

// 16 x 16 elements of an operand. f16 fragments have twice the registers that they need, as the
// first tensor cores staged every element twice.
template <Use kUse, ElementType kType, bool kRowMajor>
struct Fragment {
  static_assert(kType == kF16 || kType == kBf16, "16-bit types are f16 and bf16");
  unsigned x[kType == kF16 ? 8 : 4];
};

// 16 x 16 sums.
template <ElementType kType>
struct Accumulator {
  static constexpr ElementType kElement = kF32;
  float x[8] = {};
};
template <>
struct Accumulator<kF16> {
  static constexpr ElementType kElement = kF16;
  unsigned x[4] = {};  // two halves each
};

#define GEMMTUNE_WMMA_LOAD_F16(matrix_and_layout)                                           \
  asm volatile("wmma.load." matrix_and_layout                                               \
               ".m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"          \
               : "=r"(to.x[0]), "=r"(to.x[1]), "=r"(to.x[2]), "=r"(to.x[3]), "=r"(to.x[4]), \
                 "=r"(to.x[5]), "=r"(to.x[6]), "=r"(to.x[7])                                \
               : "r"(address), "r"(ld)                                                      \
               : "memory")
#define GEMMTUNE_WMMA_LOAD_BF16(matrix_and_layout)                                                 \
  asm volatile("wmma.load." matrix_and_layout ".m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;" \
               : "=r"(to.x[0]), "=r"(to.x[1]), "=r"(to.x[2]), "=r"(to.x[3])                        \
               : "r"(address), "r"(ld)                                                             \
               : "memory")
// One of the four that the fragment is.
#define GEMMTUNE_WMMA_LOAD(LOAD)    \
  if constexpr (kUse == kMatrixA) { \
    if constexpr (kRowMajor) {      \
      LOAD("a.sync.aligned.row");   \
    } else {                        \
      LOAD("a.sync.aligned.col");   \
    }                               \
  } else {                          \
    if constexpr (kRowMajor) {      \
      LOAD("b.sync.aligned.row");   \
    } else {                        \
      LOAD("b.sync.aligned.col");   \
    }                               \
  }

template <Use kUse, bool kRowMajor>
__device__ __forceinline__ void load_matrix_sync(Fragment<kUse, kF16, kRowMajor>& to,
                                                 unsigned address, int ld) {
  GEMMTUNE_WMMA_LOAD(GEMMTUNE_WMMA_LOAD_F16)
}

template <Use kUse, bool kRowMajor>
__device__ __forceinline__ void load_matrix_sync(Fragment<kUse, kBf16, kRowMajor>& to,
                                                 unsigned address, int ld) {
  GEMMTUNE_WMMA_LOAD(GEMMTUNE_WMMA_LOAD_BF16)
}

#undef GEMMTUNE_WMMA_LOAD
#undef GEMMTUNE_WMMA_LOAD_BF16
#undef GEMMTUNE_WMMA_LOAD_F16

#define GEMMTUNE_WMMA_MMA_F16_F32(layouts)                                                         \
  asm("wmma.mma.sync.aligned." layouts                                                             \
      ".m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "                                      \
      "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "         \
      "{%0, %1, %2, %3, %4, %5, %6, %7};"                                                          \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),        \
        "+f"(d[7])                                                                                 \
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(a.x[4]), "r"(a.x[5]), "r"(a.x[6]), \
        "r"(a.x[7]), "r"(b.x[0]), "r"(b.x[1]), "r"(b.x[2]), "r"(b.x[3]), "r"(b.x[4]), "r"(b.x[5]), \
        "r"(b.x[6]), "r"(b.x[7]))
#define GEMMTUNE_WMMA_MMA_F16_F16(layouts)                                                         \
  asm("wmma.mma.sync.aligned." layouts                                                             \
      ".m16n16k16.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "                  \
      "{%12, %13, %14, %15, %16, %17, %18, %19}, {%0, %1, %2, %3};"                                \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                             \
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(a.x[4]), "r"(a.x[5]), "r"(a.x[6]), \
        "r"(a.x[7]), "r"(b.x[0]), "r"(b.x[1]), "r"(b.x[2]), "r"(b.x[3]), "r"(b.x[4]), "r"(b.x[5]), \
        "r"(b.x[6]), "r"(b.x[7]))
#define GEMMTUNE_WMMA_MMA_BF16(layouts)                                                            \
  asm("wmma.mma.sync.aligned." layouts                                                             \
      ".m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, "        \
      "{%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"                                    \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),        \
        "+f"(d[7])                                                                                 \
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]), "r"(b.x[2]), \
        "r"(b.x[3]))
// Which of the four, by the layouts of the fragments.
#define GEMMTUNE_WMMA_MMA(MMA)              \
  if constexpr (kRowMajorA && kRowMajorB) { \
    MMA("row.row");                         \
  } else if constexpr (kRowMajorA) {        \
    MMA("row.col");                         \
  } else if constexpr (kRowMajorB) {        \
    MMA("col.row");                         \
  } else {                                  \
    MMA("col.col");                         \
  }

// sums += a * b.
template <ElementType kType, bool kRowMajorA, bool kRowMajorB>
__device__ __forceinline__ void mma_sync(Accumulator<kF32>& sums,
                                         const Fragment<kMatrixA, kType, kRowMajorA>& a,
                                         const Fragment<kMatrixB, kType, kRowMajorB>& b) {
  float(&d)[8] = sums.x;
  if constexpr (kType == kBf16) {
    GEMMTUNE_WMMA_MMA(GEMMTUNE_WMMA_MMA_BF16)
  } else {
    GEMMTUNE_WMMA_MMA(GEMMTUNE_WMMA_MMA_F16_F32)
  }
}

template <bool kRowMajorA, bool kRowMajorB>
__device__ __forceinline__ void mma_sync(Accumulator<kF16>& sums,
                                         const Fragment<kMatrixA, kF16, kRowMajorA>& a,
                                         const Fragment<kMatrixB, kF16, kRowMajorB>& b) {
  unsigned(&d)[4] = sums.x;
  GEMMTUNE_WMMA_MMA(GEMMTUNE_WMMA_MMA_F16_F16)
}

#undef GEMMTUNE_WMMA_MMA
#undef GEMMTUNE_WMMA_MMA_BF16
#undef GEMMTUNE_WMMA_MMA_F16_F16
#undef GEMMTUNE_WMMA_MMA_F16_F32

// Row by row, in the type of the sums.
__device__ __forceinline__ void store_matrix_sync(unsigned address, const Accumulator<kF32>& sums,
                                                  int ld) {
  const float(&d)[8] = sums.x;
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, "
      "%9;" ::"r"(address),
      "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]),
      "r"(ld)
      : "memory");
}

__device__ __forceinline__ void store_matrix_sync(unsigned address, const Accumulator<kF16>& sums,
                                                  int ld) {
  const unsigned(&d)[4] = sums.x;
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%0], {%1, %2, %3, %4}, %5;" ::"r"(
          address),
      "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]), "r"(ld)
      : "memory");
}

}  // namespace gemmtune::wmma
