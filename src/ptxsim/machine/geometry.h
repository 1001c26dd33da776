#pragma once

#include <cstdint>

#include "ptxsim/report/finding.h"

namespace gemmtune::ptxsim {

// The position that a linear index (x fastest) has in an extent.
inline Index3 unflatten(uint64_t index, const uint32_t (&extent)[3]) {
  return {static_cast<uint32_t>(index % extent[0]),
          static_cast<uint32_t>(index / extent[0] % extent[1]),
          static_cast<uint32_t>(index / extent[0] / extent[1])};
}

}  // namespace gemmtune::ptxsim
