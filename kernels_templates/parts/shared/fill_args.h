#pragma once

namespace gemmtune {

// The argument of the kernels that fill operands with random values (random_fill.cuh).
struct FillArgs {
  void* to = nullptr;            // device address
  unsigned long long count = 0;  // elements
  unsigned long long seed = 0;
};

}  // namespace gemmtune
