#pragma once

#include "parts/shared/host_device.h"

// Counter-based random operands: element i of stream `seed` is a pure function of (seed, i), so the
// device fills gigabytes in place and the host can recompute any single element.

namespace gemmtune {

// Uniform in [-1, 1): the top 24 bits of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), so that
// every value is exact in f32.
GEMMTUNE_HOST_DEVICE inline float random_value(unsigned long long seed, unsigned long long i) {
  unsigned long long x = seed * 0xd1342543de82ef95ull + (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return static_cast<float>(static_cast<int>(x >> 40) - (1 << 23)) * (1.0f / (1 << 23));
}

// Of a random_value: each i8 as often.
GEMMTUNE_HOST_DEVICE inline int random_integer(float value) {
  return static_cast<int>((value + 1.0f) * 128.0f) - 128;
}

}  // namespace gemmtune
