#include "ptxsim/machine/tensor_box.h"

#include <fmt/format.h>

#include <algorithm>

namespace gemmtune::ptxsim {

namespace {

constexpr uint64_t kChunk = 16;  // bytes, that TMA moves at a time

uint32_t swizzle_of(TensorSwizzle swizzle) {
  switch (swizzle) {
    case TensorSwizzle::bytes_32:
      return 32;
    case TensorSwizzle::bytes_64:
      return 64;
    case TensorSwizzle::bytes_128:
      return 128;
    default:
      return 0;
  }
}

bool is_one_of_ours(const TensorMapConfig& config) {
  const auto type = static_cast<uint32_t>(config.type);
  const auto swizzle = static_cast<uint32_t>(config.swizzle);
  return type <= static_cast<uint32_t>(DataType::i32) &&
         swizzle <= static_cast<uint32_t>(TensorSwizzle::bytes_128) && config.dimensions >= 1 &&
         config.dimensions <= TensorMapConfig::kMostDimensions;
}

uint32_t bytes_of(DataType type) {
  return static_cast<uint32_t>(size_bytes(type));
}

}  // namespace

std::string fault_of(const TensorMap& map, uint32_t dimensions) {
  constexpr uint32_t kMostInBox = 256;
  const TensorMapConfig& config = map.config;
  if (!is_one_of_ours(config)) return "the 128 bytes are no tensor map";
  if (static_cast<uint32_t>(config.dimensions) != dimensions) {
    return fmt::format("the instruction is for {} dimensions, the tensor map for {}", dimensions,
                       config.dimensions);
  }
  if (map.address % kChunk != 0) {
    return fmt::format("the tensor begins at {:#x}, not a multiple of 16", map.address);
  }
  for (uint32_t i = 0; i < dimensions; ++i) {
    if (config.box[i] == 0 || config.box[i] > kMostInBox || config.extent[i] == 0) {
      return fmt::format("a box of {} of {} elements in dimension {}: 1 to 256 are possible",
                         config.box[i], config.extent[i], i);
    }
    if (i > 0 && config.stride_bytes[i - 1] % kChunk != 0) {
      return fmt::format("the stride of dimension {} is {} bytes, not a multiple of 16", i,
                         config.stride_bytes[i - 1]);
    }
  }
  if (config.rounds_to_tf32 && config.type != DataType::f32) {
    return "only a tensor of f32 is rounded to tf32";
  }
  const uint32_t row = config.box[0] * bytes_of(config.type);
  const uint32_t swizzle = swizzle_of(config.swizzle);
  if (row % kChunk != 0) return fmt::format("rows of {} bytes, not a multiple of 16", row);
  if (swizzle != 0 && row > swizzle) {
    return fmt::format("rows of {} bytes are longer than the swizzle's {}", row, swizzle);
  }
  return {};
}

std::string fault_of(const TensorBox& box) {
  const int64_t begin = int64_t{box.coordinate[0]} * box.element_bytes;
  if (begin % static_cast<int64_t>(kChunk) == 0) return {};
  return fmt::format("the box begins at element {} of its rows, {} bytes, not a multiple of 16",
                     box.coordinate[0], begin);
}

TensorBox box_of(const TensorMap& map, const std::array<int32_t, 5>& coordinate) {
  TensorBox out;
  const TensorMapConfig& config = map.config;
  out.address = map.address;
  out.dimensions = static_cast<uint32_t>(config.dimensions);
  out.element_bytes = bytes_of(config.type);
  out.extent.fill(1);
  out.box.fill(1);
  out.stride[0] = out.element_bytes;
  for (uint32_t i = 0; i < out.dimensions; ++i) {
    out.extent[i] = config.extent[i];
    out.box[i] = config.box[i];
    out.coordinate[i] = coordinate[i];
    if (i > 0) out.stride[i] = config.stride_bytes[i - 1];
  }
  out.swizzle_bytes = swizzle_of(config.swizzle);
  out.rounds_to_tf32 = config.rounds_to_tf32;
  return out;
}

BoxRow row_of(const TensorBox& box, uint32_t row) {
  uint64_t address = box.address;
  uint32_t rest = row;
  for (uint32_t i = 1; i < box.extent.size(); ++i) {
    const int64_t at = int64_t{box.coordinate[i]} + rest % box.box[i];
    rest /= box.box[i];
    if (at < 0 || static_cast<uint64_t>(at) >= box.extent[i]) return {};
    address += static_cast<uint64_t>(at) * box.stride[i];
  }
  const int64_t first = box.coordinate[0];
  const int64_t begin = std::max<int64_t>(first, 0);
  const int64_t end = std::min(first + int64_t{box.box[0]}, static_cast<int64_t>(box.extent[0]));
  if (begin >= end) return {};
  return {address + static_cast<uint64_t>(begin) * box.element_bytes,
          static_cast<uint32_t>(begin - first) * box.element_bytes,
          static_cast<uint32_t>(end - begin) * box.element_bytes};
}

uint64_t footprint(const TensorBox& box) {
  uint64_t bytes = box.element_bytes;
  for (const uint32_t extent : box.box) bytes *= extent;
  const uint64_t unit = box.swizzle_bytes == 0 ? 16 : box.swizzle_bytes;
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace gemmtune::ptxsim
