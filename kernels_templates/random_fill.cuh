#pragma once

#include "parts/random_value.h"

// Fills a float array with random_value(seed, i): the operands of a benchmark.

namespace gemmtune {

struct FillArgs {
  float* to = nullptr;
  unsigned long long count = 0;
  unsigned long long seed = 0;
};

}  // namespace gemmtune

extern "C" __global__ void random_fill_f32(const gemmtune::FillArgs args) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i =
           blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
       i < args.count; i += stride) {
    args.to[i] = gemmtune::random_value(args.seed, i);
  }
}
