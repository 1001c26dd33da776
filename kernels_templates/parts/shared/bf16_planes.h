#pragma once

#include "parts/shared/aligned_lines.h"
#include "parts/shared/host_device.h"

// The bf16 planes of an f32 operand as they lie in the workspace (parts/operand/bf16_planes.cuh):
// for each entry of the batch three matrices of aligned lines, one behind the other.

namespace gemmtune {

inline constexpr int kBf16Planes = 3;
inline constexpr int kSplitThreads = 256;  // a block of the splitting kernel
inline constexpr int kSplitElements = 8;   // that a thread of it splits

struct Bf16Planes {
  AlignedLines lines;  // of a plane

  GEMMTUNE_HOST_DEVICE constexpr long long matrices() const { return lines.entries * kBf16Planes; }
  GEMMTUNE_HOST_DEVICE constexpr long long plane() const { return lines.lines * lines.ld; }
  GEMMTUNE_HOST_DEVICE constexpr long long elements() const { return matrices() * plane(); }
};

}  // namespace gemmtune
