#pragma once

#include "parts/operand/bf16_planes.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "wgmma_tma.cuh"

// wgmma_planes: f32 on Hopper's bf16 tensor cores. A first kernel, prepare(), splits both operands
// into three bf16 planes in the workspace (bf16_planes.cuh); the second is wgmma_tma, which sums
// six or nine products of planes (plane_pairs.h).

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaPlanes {
  using Operands = SplitOperands<kTraits>;
  using Main = WgmmaTma<kTile, kTraits, kTypes>;

  static constexpr int kThreads = Main::kThreads;
  static constexpr int kSmemBytes = Main::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b) {
    Main::run(args, a, b);
  }

  static constexpr int kPrepareThreads = kSplitThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    Operands::split(args);
  }
};

}  // namespace gemmtune
