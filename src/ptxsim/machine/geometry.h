#pragma once

#include <cstdint>

#include "core/launch_config.h"
#include "ptxsim/report/finding.h"

namespace gemmtune::ptxsim {

// The position that a linear index (x fastest) has in an extent.
inline Index3 unflatten(uint64_t index, const Dim3& extent) {
  return {static_cast<uint32_t>(index % extent.x),
          static_cast<uint32_t>(index / extent.x % extent.y),
          static_cast<uint32_t>(index / extent.x / extent.y)};
}

}  // namespace gemmtune::ptxsim
