#pragma once

#include "parts/gemm_args.h"

// A long k in rounds. Rounding errors of a sum grow with its length: added up one after the other,
// 4096 products have three times the error that cuBLASLt's best kernel leaves, which splits k. So
// the sums of at most kRoundDepth values of k (of each group of threads that shares k) are added to
// C, and begin again at 0:
//
//     k:  | round 0 | round 1 | round 2 |      C = alpha * S0 + beta * C,  C += alpha * S1,  ...
//
// The thread that stored an element is the one that adds to it.

namespace gemmtune {

inline constexpr int kRoundDepth = 1024;
inline constexpr int kOneRound = 2048;  // a k up to here is not worth a second one

// Where the round that begins at k_begin ends. kParts: groups that share the k of a round.
template <int kParts = 1>
__device__ __forceinline__ int round_end(int k_begin, int k) {
  return k <= kOneRound ? k : min(k, k_begin + kRoundDepth * kParts);
}

// What the results of that round are stored with.
__device__ __forceinline__ GemmArgs round_args(const GemmArgs& args, int k_begin) {
  GemmArgs round = args;
  if (k_begin > 0) round.beta = 1.0f;
  return round;
}

// Calls round(k_begin, k_end) for each round, with a barrier between two.
template <int kParts = 1, class Round>
__device__ __forceinline__ void for_each_round(int k, Round round) {
  int k_begin = 0;
  while (true) {
    const int k_end = round_end<kParts>(k_begin, k);
    round(k_begin, k_end);
    if (k_end == k) return;
    k_begin = k_end;
    __syncthreads();  // everyone has read the last buffers
  }
}

// blockIdx.x, read where it is asked for: what follows from it is computed there, and not kept in
// registers through a main loop.
__device__ __forceinline__ int reread_block_index() {
  int block;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(block));
  return block;
}

}  // namespace gemmtune
