#pragma once

#include "codegen/kernel_source.h"
#include "core/types.h"

#include "../../kernels_templates/parts/random_value.h"

namespace gemmtune::codegen {

// Argument of the fill kernels, laid out as in kernels_templates/random_fill.cuh.
struct FillArgs {
  void* to = nullptr;            // device address
  unsigned long long count = 0;  // elements
  unsigned long long seed = 0;
};

// The kernel that fills benchmark operands of a type: one entry, "random_fill_f32" and so on, any
// one-dimensional launch.
KernelSource random_fill_source(DataType type);

}  // namespace gemmtune::codegen
