// The arithmetic of matrix instructions, and its numeric behaviour.
//
// Inputs are taken as they are: f16 and bf16 exactly; of a tf32 register the low 13 bits are
// ignored. Every product is exact. Products are added to the accumulator in ascending k in
// binary64, and the sum is rounded once, to nearest even, to the accumulator's type. Integer
// products are summed exactly and wrap (or saturate with .satfinite).
//
// The hardware's order and its cut-off of low bits are not documented; measured devices align all
// terms to the largest and truncate below about 24 bits (M. Fasi, N. Higham, M. Mikaitis, S.
// Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021). So for an f32 accumulator both agree
// within
//   (k + 1) * 2^-23 * (|c| + sum of |a * b|)
// and are equal when every partial sum is an integer below 2^24. For inputs in [-1, 1) an H200
// differs by 2^-22 at most, m16n8k16 of bf16 by 2^-21 (tests/sim/hardware/cases_matrix.cc).
#pragma once

#include <cstdint>

namespace gemmtune::ptxsim {

inline constexpr int kMaxMmaM = 32;
inline constexpr int kMaxMmaN = 32;
inline constexpr int kMaxMmaK = 32;

// d (m x n) += a (m x k) * b (k x n), all with rows of 32 doubles.
void multiply_add(int m, int n, int k, const double (*a)[kMaxMmaK], const double (*b)[kMaxMmaN],
                  double (*d)[kMaxMmaN]);

// 32 registers that each hold two f16 or bf16: the low halves to `low`, the high ones to `high`.
void unpack_halves(const uint32_t* pairs, double* low, double* high);
void unpack_bfloats(const uint32_t* pairs, double* low, double* high);

}  // namespace gemmtune::ptxsim
