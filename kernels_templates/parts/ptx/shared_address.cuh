#pragma once

// Shared memory as the instructions of PTX address it, by 32 bits.

namespace gemmtune {

__device__ __forceinline__ unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

}  // namespace gemmtune
