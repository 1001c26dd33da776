#pragma once

#include "parts/operand/k_major_copy.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "wgmma_tma.cuh"

// wgmma_k_major: wgmma_tma for tf32 operands whose k is not contiguous, which wgmma reads no other
// way, or that 16 bytes do not divide. A first kernel, prepare(), copies them into the workspace,
// transposed where needed (k_major_copy.cuh); the second is wgmma_tma, whose tensor maps are of the
// copies.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaKMajor {
  using Operands = KMajorOperands<kTraits>;
  using Main = WgmmaTma<kTile, Operands::kAligned, kTypes>;

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

  static constexpr int kPrepareThreads = kKMajorThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    Operands::copy(args);
  }
};

}  // namespace gemmtune
