#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/shared/aligned_lines.h"

// 16 bytes of 8- or 16-bit elements that begin anywhere.

namespace gemmtune {

// The 16 bytes that begin `shift` bytes, a multiple of kAlignment, behind the beginning of two
// vectors that lie one behind the other.
template <int kAlignment>
__device__ __forceinline__ HalfVector<kAlignedVector> across(
    const HalfVector<kAlignedVector>& first, const HalfVector<kAlignedVector>& second, int shift) {
  unsigned words[9];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = first.words[i];
    words[4 + i] = second.words[i];
  }
  words[8] = 0;
#pragma unroll
  for (int i = 0; i < 6; ++i) words[i] = (shift & 8) != 0 ? words[i + 2] : words[i];
  if constexpr (kAlignment <= 4) {
#pragma unroll
    for (int i = 0; i < 5; ++i) words[i] = (shift & 4) != 0 ? words[i + 1] : words[i];
  }
  HalfVector<kAlignedVector> out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kAlignment >= 4) {
      out.words[i] = words[i];
    } else if constexpr (kAlignment == 2) {
      out.words[i] = (shift & 2) != 0 ? words[i] >> 16 | words[i + 1] << 16 : words[i];
    } else {
      out.words[i] = __funnelshift_r(words[i], words[i + 1], (shift & 3) * 8);
    }
  }
  return out;
}

// The first `count` elements at `from`, one at a time, and zeros behind them.
template <class Element>
__device__ __forceinline__ HalfVector<kAlignedVector> load_singly(const Element* from, int count) {
  constexpr int kBits = 8 * sizeof(Element);
  constexpr int kOfWord = 32 / kBits;
  HalfVector<kAlignedVector> out = {};
#pragma unroll
  for (int i = 0; i < kAlignedVector * 16 / kBits; ++i) {
    if (i < count)
      out.words[i / kOfWord] |= static_cast<unsigned>(from[i]) << kBits * (i % kOfWord);
  }
  return out;
}

}  // namespace gemmtune
