#pragma once

#include "codegen/kernel_source.h"

#include "../../kernels_templates/parts/random_value.h"

namespace gemmtune::codegen {

// Argument of random_fill_f32, laid out as in kernels_templates/random_fill.cuh.
struct FillArgs {
  float* to = nullptr;  // device address
  unsigned long long count = 0;
  unsigned long long seed = 0;
};

// The kernel that fills benchmark operands: entry "random_fill_f32", any one-dimensional launch.
KernelSource random_fill_source();

}  // namespace gemmtune::codegen
