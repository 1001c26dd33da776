#pragma once

#include "parts/mma/mma_fragments.cuh"
#include "parts/shared/element_types.h"

// How a warp's fragments are multiplied (ElementTypes::products).
//
//     kExact     16-bit operands: one mma
//     kTf32      f32 operands, rounded to tf32: one mma
//     k3xTf32    x = big + small: big the upper 19 bits, small the rest, of which mma takes 11
//                a * b  =  small_a * big_b + big_a * small_b + big_a * big_b     (three mma)
//                What is left out, small_a * small_b and the last bits of both, is below 2^-19 of
//                the product, and on average a tenth of that.
//
// The tensor cores cut sums off instead of rounding them, which over a long k would cost more
// accuracy than plain f32 has. So the three products of a few k steps are summed there from zero,
// and added to the sums by rounded f32 additions. Source: Ootomo and Yokota, "Recovering single
// precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance",
// 2022.

namespace gemmtune {

// Fragments of a step of the main loop as they are multiplied: kMmas of them, which follow one
// another in k.
template <Products kProducts, int kMmas, int kWarpMn>
struct MmaOperand {
  using Fragment = MmaFragment<kWarpMn>;
  Fragment big[kMmas];
  Fragment small[kMmas];  // of k3xTf32 only

  __device__ __forceinline__ explicit MmaOperand(const Fragment (&from)[kMmas]) {
#pragma unroll
    for (int h = 0; h < kMmas; ++h) {
#pragma unroll
      for (int i = 0; i < Fragment::kSubtiles; ++i) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const unsigned x = from[h].subtiles[i][r];
          if constexpr (kProducts == kTf32) {
            big[h].subtiles[i][r] = nearest(x);
          } else {
            big[h].subtiles[i][r] = x;
          }
          if constexpr (kProducts == k3xTf32) small[h].subtiles[i][r] = cut_off(x);
        }
      }
    }
  }

 private:
  static __device__ __forceinline__ unsigned nearest(unsigned x) {
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(x)));
    return rounded;
  }

  // What an mma of tf32 does not see of x. Exact.
  static __device__ __forceinline__ unsigned cut_off(unsigned x) {
    return __float_as_uint(__uint_as_float(x) - __uint_as_float(x & 0xffffe000u));
  }
};

// sums += row tile i of `a` times column tile j of `b`, the mmas of a step one after the other.
template <int kMmas, int kWarpM, int kWarpN>
__device__ __forceinline__ void add_tf32(float (&sums)[4], const MmaFragment<kWarpM> (&a)[kMmas],
                                         int i, const MmaFragment<kWarpN> (&b)[kMmas], int j) {
#pragma unroll
  for (int h = 0; h < kMmas; ++h) {
    const unsigned(&column)[4] = b[h].subtiles[j / 2];
    mma_tf32(sums, a[h].subtiles[i], column[j % 2 * 2], column[j % 2 * 2 + 1]);
  }
}

// Adds the products of row tile i of A and column tile j of B to their sums.
template <ElementTypes kTypes, class A, class B>
__device__ __forceinline__ void multiply_tile(MmaSums<kTypes.accumulator>& sums, const A& a, int i,
                                              const B& b, int j) {
  if constexpr (kTypes.products == kExact) {
    const unsigned(&column)[4] = b.big[0].subtiles[j / 2];
    mma<kTypes.operand>(sums, a.big[0].subtiles[i], column[j % 2 * 2], column[j % 2 * 2 + 1]);
  } else if constexpr (kTypes.products == kTf32) {
    add_tf32(sums.at, a.big, i, b.big, j);
  } else {
    static_assert(kTypes.products == k3xTf32, "products that no mma forms");
    float step[4] = {};
    add_tf32(step, a.small, i, b.big, j);
    add_tf32(step, a.big, i, b.small, j);
    add_tf32(step, a.big, i, b.big, j);
#pragma unroll
    for (int r = 0; r < 4; ++r) sums.at[r] += step[r];
  }
}

}  // namespace gemmtune
