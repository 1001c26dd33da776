#pragma once

#include "jit/nvrtc.h"

namespace gemmtune::jit {

// Of the versions that were compared on a card the one with the fastest kernels
// (docs/performance.md, "Compilers"). tools/cuda_wheels.py fetches it where there is none.
inline constexpr NvrtcVersion kPreferredNvrtc{13, 0};

// Whether a version was compared with the preferred one and made slower kernels.
constexpr bool is_known_slower(NvrtcVersion version) {
  return version == NvrtcVersion{13, 5};
}

}  // namespace gemmtune::jit
