#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/types.h"

namespace gemmtune {

// How TMA permutes the 16-byte chunks of rows in shared memory (CUtensorMapSwizzle).
enum class TensorSwizzle { none, bytes_32, bytes_64, bytes_128 };

// A tensor in device memory as TMA copies it, tile by tile (CUDA driver API,
// cuTensorMapEncodeTiled). Dimension 0 is contiguous; what lies outside reads as zero.
struct TensorMapConfig {
  static constexpr int kMostDimensions = 5;

  DataType type = DataType::f32;
  int dimensions = 2;
  std::array<uint64_t, kMostDimensions> extent{};            // elements
  std::array<uint64_t, kMostDimensions - 1> stride_bytes{};  // of dimension i + 1
  std::array<uint32_t, kMostDimensions> box{};               // elements of a tile
  TensorSwizzle swizzle = TensorSwizzle::none;
  bool rounds_to_tf32 = false;  // f32 only: what a copy brings to shared memory is rounded

  bool operator==(const TensorMapConfig&) const = default;
};

// What a kernel is given: 128 bytes whose meaning is that of who runs it, the driver or the
// simulator.
struct alignas(64) EncodedTensorMap {
  std::array<std::byte, 128> bytes{};
};

}  // namespace gemmtune
