#pragma once

#include "codegen/kernel_source.h"
#include "core/launch_config.h"
#include "core/problem.h"

#include "parts/shared/gemm_args.h"

namespace gemmtune::codegen {

// A kernel that applies an epilogue to a C that lies in memory, C = activation(C + bias), in place,
// and its launch for one problem. It moves C twice and computes next to nothing.
struct EpilogueKernel {
  KernelSource source;  // of one entry, which takes GemmArgs
  LaunchConfig launch;
  GemmArgs args;  // without addresses; c and bias are to be set
};

// For C of `problem`, which is canonical and valid and has an epilogue. Its elements are accessed
// by 16 bytes, or by less where alignment or leading dimension ask for it.
EpilogueKernel epilogue_kernel(const Problem& problem);

}  // namespace gemmtune::codegen
