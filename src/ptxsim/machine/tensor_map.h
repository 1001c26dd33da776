#pragma once

#include <cstdint>
#include <cstring>

#include "core/tensor_map.h"

namespace gemmtune::ptxsim {

// What a tensor map of the simulator holds, where CUtensorMap's layout is the driver's own.
struct TensorMap {
  uint64_t address = 0;  // in simulated memory
  TensorMapConfig config;
};

inline EncodedTensorMap encode(const TensorMap& map) {
  EncodedTensorMap out;
  static_assert(sizeof(map) <= sizeof(out.bytes));
  std::memcpy(out.bytes.data(), &map, sizeof(map));
  return out;
}

}  // namespace gemmtune::ptxsim
