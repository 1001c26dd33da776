#pragma once

#include "parts/ptx/byte_access.cuh"
#include "parts/ptx/half_access.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/fill_args.h"
#include "parts/shared/random_value.h"

// Fills an array with random_value(seed, i), rounded to the element type, or random_integer()
// of it: the operands of a benchmark.

namespace gemmtune {

template <ElementType kType>
__device__ __forceinline__ void random_fill(const FillArgs& args) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i =
           blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
       i < args.count; i += stride) {
    const float value = random_value(args.seed, i);
    if constexpr (kType == kF32) {
      static_cast<float*>(args.to)[i] = value;
    } else if constexpr (kType == kI8) {
      static_cast<signed char*>(args.to)[i] = static_cast<signed char>(random_integer(value));
    } else if constexpr (kType == kI32) {
      static_cast<int*>(args.to)[i] = random_integer(value);
    } else if constexpr (kType == kE4m3 || kType == kE5m2) {
      static_cast<unsigned char*>(args.to)[i] = to_byte<kType>(value);
    } else {
      static_cast<unsigned short*>(args.to)[i] = to_half<kType>(value);
    }
  }
}

}  // namespace gemmtune
