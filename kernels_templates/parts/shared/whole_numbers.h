#pragma once

#include "parts/shared/host_device.h"

namespace gemmtune {

// Whether `whole` is made of `part`s; both at least 1.
GEMMTUNE_HOST_DEVICE constexpr bool divides(int part, int whole) {
  return part > 0 && whole > 0 && whole % part == 0;
}

// The largest power of two up to `most` that divides x.
GEMMTUNE_HOST_DEVICE constexpr int power_of_two_in(int x, int most) {
  int p = 1;
  while (p < most && x % (2 * p) == 0) p *= 2;
  return p;
}

}  // namespace gemmtune
