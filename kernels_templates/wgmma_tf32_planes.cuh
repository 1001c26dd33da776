#pragma once

#include "parts/operand/tf32_planes.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/k_major_lines.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "wgmma_tma.cuh"

// wgmma_tf32_planes: 3xtf32 on Hopper's tensor cores. A first kernel, prepare(), splits both
// operands into two tf32 planes in the workspace, with k contiguous, which wgmma reads no other way
// (k_major_copy.cuh, tf32_planes.cuh); the second is wgmma_tma, which sums three products of planes
// (plane_pairs.h). Its stages hold both planes of both operands, so that each is loaded once for
// all three.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaTf32Planes {
  using Operands = Tf32Planes<kTraits>;
  using Main = WgmmaTma<kTile, Operands::kAligned, kTypes, kTraits>;

  static constexpr int kThreads = Main::kThreads;
  static constexpr int kSmemBytes = Main::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& a,
                                             const TensorMap& b) {
    Main::run(args, a, b);
  }

  static constexpr int kPrepareThreads = kKMajorThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    Operands::split(args);
  }
};

}  // namespace gemmtune
