#pragma once

#include <cstdint>

namespace gemmtune {

// An extent or a position in three dimensions.
struct Dim3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;

  // 0 is x.
  constexpr uint32_t operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
  constexpr uint32_t& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  constexpr uint64_t count() const { return uint64_t{x} * y * z; }
  constexpr bool operator==(const Dim3&) const = default;
};

// The most blocks of a grid, all of them along x (CUDA C++ Programming Guide, "Compute
// Capabilities").
inline constexpr int64_t kMostBlocks = 2147483647;

// How a kernel is launched, on a GPU or on the simulator.
struct LaunchConfig {
  Dim3 grid;                   // blocks
  Dim3 block;                  // threads
  Dim3 cluster;                // blocks per cluster; 1 x 1 x 1 launches without clusters
  int dynamic_smem_bytes = 0;  // per block
  // Programmatic dependent launch: the kernel may start before the one that precedes it on its
  // stream has ended, and waits for its results itself (griddepcontrol.wait, sm_90). Drivers before
  // CUDA 12.3 launch it after that one.
  bool overlaps_previous = false;

  bool operator==(const LaunchConfig&) const = default;
};

}  // namespace gemmtune
