#pragma once

#include "core/tensor_map.h"
#include "gpu/driver.h"

namespace gemmtune::gpu {

// The CUtensorMap of a tensor that begins at `address` (in device memory, a multiple of 16). Fails
// with the driver's error where it refuses the configuration, and with ErrorKind::unsupported where
// the driver has no tensor maps. Thread-safe; needs no context.
Result<EncodedTensorMap> encode_tensor_map(const Driver& driver, const TensorMapConfig& config,
                                           const void* address);

}  // namespace gemmtune::gpu
