#pragma once

// The part of k that one of several blocks or groups of warps multiplies.

namespace gemmtune {

struct KRange {
  int begin;
  int end;

  __device__ __forceinline__ bool empty() const { return begin >= end; }
};

// Part `part` of kParts: whole steps of kStep values, the same number for each; the last parts may
// be left with fewer, or none.
template <int kStep, int kParts>
__device__ __forceinline__ KRange k_range(int k, int part) {
  const int steps = (k + kStep - 1) / kStep;
  const int depth = (steps + kParts - 1) / kParts * kStep;
  const int begin = min(part * depth, k);
  return {begin, min(begin + depth, k)};
}

}  // namespace gemmtune
