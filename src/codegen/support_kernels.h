#pragma once

#include "codegen/kernel_source.h"
#include "core/types.h"

#include "parts/shared/fill_args.h"
#include "parts/shared/random_value.h"

namespace gemmtune::codegen {

// The kernel that fills benchmark operands of a type, given FillArgs: one entry, "random_fill_f32"
// and so on, any one-dimensional launch.
KernelSource random_fill_source(DataType type);

}  // namespace gemmtune::codegen
