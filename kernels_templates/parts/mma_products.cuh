#pragma once

#include "parts/element_types.h"
#include "parts/mma_fragments.cuh"

// What becomes of a warp's fragments before they are multiplied, and how (ElementTypes::products).
//
//     kExact     16-bit operands: one mma
//     kTf32      f32 rounded to tf32: one mma
//     k3xTf32    x = big + small, two tf32 values with 11 + 11 bits of x's 24:
//                a * b  =  small_a * big_b + big_a * small_b + big_a * big_b     (three mma)
//                What is left out, small_a * small_b, and what is cut off small are below 2^-22 of
//                the product.
//
// The tensor cores cut sums off instead of rounding them, which over a long k would cost more
// accuracy than plain f32 has. So the three products of one k step are summed there from zero, and
// added to the sums by rounded f32 additions. Source: Ootomo and Yokota, "Recovering single
// precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance",
// 2022.

namespace gemmtune {

// The tf32 value nearest to x, as the f32 that it is.
__device__ __forceinline__ unsigned to_tf32(unsigned x) {
  unsigned nearest;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(nearest) : "f"(__uint_as_float(x)));
  return nearest;
}

// A fragment as it is multiplied.
template <Products kProducts, int kWarpMn>
struct MmaOperand {
  using Fragment = MmaFragment<kWarpMn>;
  Fragment big;
  Fragment small;  // of k3xTf32 only

  __device__ __forceinline__ explicit MmaOperand(const Fragment& from) : big(from) {
    if constexpr (kProducts != kExact) {
#pragma unroll
      for (int i = 0; i < Fragment::kPieces; ++i) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const unsigned x = from.pieces[i][r];
          const unsigned nearest = to_tf32(x);
          big.pieces[i][r] = nearest;
          if constexpr (kProducts == k3xTf32) {
            small.pieces[i][r] = __float_as_uint(__uint_as_float(x) - __uint_as_float(nearest));
          }
        }
      }
    }
  }
};

// Adds the product of row tile i of A and column tile j of B to their sums.
template <ElementTypes kTypes, class A, class B>
__device__ __forceinline__ void multiply_tile(MmaSums<kTypes.accumulator>& sums, const A& a, int i,
                                              const B& b, int j) {
  const unsigned(&b_big)[4] = b.big.pieces[j / 2];
  const int half = j % 2 * 2;
  if constexpr (kTypes.products == kExact) {
    mma<kTypes.operand>(sums, a.big.pieces[i], b_big[half], b_big[half + 1]);
  } else if constexpr (kTypes.products == kTf32) {
    mma_tf32(sums.at, a.big.pieces[i], b_big[half], b_big[half + 1]);
  } else {
    const unsigned(&b_small)[4] = b.small.pieces[j / 2];
    float step[4] = {};
    mma_tf32(step, a.small.pieces[i], b_big[half], b_big[half + 1]);
    mma_tf32(step, a.big.pieces[i], b_small[half], b_small[half + 1]);
    mma_tf32(step, a.big.pieces[i], b_big[half], b_big[half + 1]);
#pragma unroll
    for (int r = 0; r < 4; ++r) sums.at[r] += step[r];
  }
}

}  // namespace gemmtune
