#pragma once

#include "parts/operand/k_major_copy.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/shared/direct_block.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/direct_tf32_operand.cuh"
#include "wgmma_direct.cuh"

// wgmma_direct_tf32: tf32 products of operands whose k is not contiguous, which wgmma reads no
// other way, or that 16 bytes do not divide. Producer warps load one such operand themselves and
// lay it out with k contiguous (direct_tf32_operand.cuh), so that no copy of it is made in memory.
// TMA copies the other one; if that is such an operand too, a first kernel, prepare(), writes it
// anew with k contiguous (k_major_copy.cuh).

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaDirectTf32
    : DirectGemm<kTile, KMajorOperands<kTraits>::kAligned, kTypes, DirectTf32<kTile, kTraits>> {
  static constexpr int kPrepareThreads = kKMajorThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    let_next_kernel_start();
    await_kernels_before();
    KMajorOperands<without_direct(kTile, kTraits)>::prepare(args);
  }
};

}  // namespace gemmtune
