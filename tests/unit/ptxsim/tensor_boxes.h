// Tensors, maps and boxes for the tests of bulk copies, computed apart from the simulator's code.
#pragma once

#include <algorithm>
#include <cstring>

#include "fixture.h"
#include "ptxsim/machine/tensor_map.h"

namespace gemmtune::ptxsim::testing {

inline constexpr uint32_t kBufferBytes = 8192;  // of shared memory, for the box

struct Tensor {
  TensorMapConfig config;
  std::array<int32_t, 5> at = {};

  uint32_t element() const { return static_cast<uint32_t>(size_bytes(config.type)); }
  uint64_t bytes() const {
    uint64_t last = config.extent[0] * element();
    for (int i = 1; i < config.dimensions; ++i) {
      last += (config.extent[i] - 1) * config.stride_bytes[i - 1];
    }
    return last;
  }
  uint32_t box_elements() const {
    uint32_t count = 1;
    for (int i = 0; i < config.dimensions; ++i) count *= config.box[i];
    return count;
  }
};

// Rows that are a little longer than the extent, as pitched tensors are.
inline Tensor make_tensor(DataType type, const std::vector<uint64_t>& extent,
                          const std::vector<uint32_t>& box, TensorSwizzle swizzle) {
  Tensor out;
  out.config.type = type;
  out.config.dimensions = static_cast<int>(extent.size());
  out.config.swizzle = swizzle;
  std::copy(extent.begin(), extent.end(), out.config.extent.begin());
  std::copy(box.begin(), box.end(), out.config.box.begin());
  uint64_t stride = (extent[0] * out.element() + 15) / 16 * 16 + 16;
  for (size_t i = 1; i < extent.size(); ++i) {
    out.config.stride_bytes[i - 1] = stride;
    stride *= extent[i];
  }
  return out;
}

inline uint32_t swizzle_bytes(TensorSwizzle swizzle) {
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

// Where byte `byte` of a dense box lies: in units of 128 bytes, chunks are exchanged by the number
// of the unit.
inline uint32_t placed(uint32_t byte, uint32_t swizzle) {
  const uint32_t unit = byte / 128;
  const uint32_t chunk = byte % 128 / 16;
  return unit * 128 + (swizzle == 0 ? chunk : chunk ^ unit % (swizzle / 16)) * 16 + byte % 16;
}

inline std::string coordinates(const Tensor& tensor) {
  std::string out = "{";
  for (int i = 0; i < tensor.config.dimensions; ++i) {
    out += (i == 0 ? "" : ", ") + std::to_string(tensor.at[static_cast<size_t>(i)]);
  }
  return out + "}";
}

inline std::vector<uint16_t> random_words(size_t count) {
  std::mt19937_64 random(count);
  std::vector<uint16_t> out(count);
  for (uint16_t& word : out) word = static_cast<uint16_t>(random() | 1);
  return out;
}

// The dense box, zeros outside.
inline std::vector<std::byte> box_of(const Tensor& tensor, const std::vector<uint16_t>& words) {
  const uint32_t element = tensor.element();
  std::vector<std::byte> out(size_t{tensor.box_elements()} * element);
  for (uint32_t e = 0; e < tensor.box_elements(); ++e) {
    uint32_t rest = e;
    uint64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < static_cast<size_t>(tensor.config.dimensions); ++i) {
      const int64_t at = tensor.at[i] + static_cast<int64_t>(rest % tensor.config.box[i]);
      rest /= tensor.config.box[i];
      inside = inside && at >= 0 && at < static_cast<int64_t>(tensor.config.extent[i]);
      if (inside) {
        offset +=
            static_cast<uint64_t>(at) * (i == 0 ? element : tensor.config.stride_bytes[i - 1]);
      }
    }
    if (inside) {
      std::memcpy(&out[size_t{e} * element],
                  reinterpret_cast<const std::byte*>(words.data()) + offset, element);
    }
  }
  return out;
}

}  // namespace gemmtune::ptxsim::testing
