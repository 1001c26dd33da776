#pragma once

#include "parts/shared/gemm_args.h"

// The argument of kernels whose scalars are in device memory, known only when the kernel runs. Such
// a kernel reads them, and is otherwise the one that takes GemmArgs.

namespace gemmtune {

struct DeviceScalarArgs {
  GemmArgs gemm;                 // alpha and beta are ignored
  const float* alpha = nullptr;  // device addresses
  const float* beta = nullptr;
};

}  // namespace gemmtune
