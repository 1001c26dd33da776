#pragma once

#include "parts/ptx/grid_dependency.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/tensor_map.h"

// A product on operands that are not the problem's own: a first kernel, prepare(), makes them in
// the workspace, as Operands says; the second is Main, whose tensor maps are of those.

namespace gemmtune {

template <class Operands, class Main>
struct PreparedGemm {
  static constexpr int kThreads = Main::kThreads;
  static constexpr int kSmemBytes = Main::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b, const TensorMap& c) {
    Main::run(args, a, b, c);
  }
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b) {
    Main::run(args, a, b);
  }

  static constexpr int kPrepareThreads = Operands::kThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    Operands::prepare(args);
  }
};

}  // namespace gemmtune
