#pragma once

#include "parts/ptx/elect.cuh"
#include "parts/ptx/grid_dependency.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/shared/direct_block.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/wgmma_tiles.h"

// A block whose first warpgroups fill the stages (direct_producer.cuh), and whose others multiply
// them.

namespace gemmtune {

template <class Pipeline, class Producer, int kThreads, DirectRegisters kRegisters>
struct DirectBlock {
  // By the map of the operand that TMA copies; consumers call consume(pipeline, shared memory
  // behind the stages).
  template <class Consume>
  static __device__ __forceinline__ void run(const GemmArgs& args, const TensorMap& copied,
                                             Consume consume) {
    extern __shared__ __align__(kTmaTileAlignment) unsigned char smem[];
    const Pipeline pipeline{shared_address(smem)};
    let_next_kernel_start();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp == 0 && is_elected()) {
      prefetch_tensor_map(copied);
      pipeline.begin(Producer::kArrivals);
    }
    if (warp == 1 && is_elected()) pipeline.begin_releases();
    if constexpr (!Producer::kDirectA) {
      if (warp > 1) pipeline.template clear_outside<kThreads, 2>(args);
    }
    pipeline.meet();
    if (warp < kDirectProducerWarps) {
      give_registers_back<kRegisters.producer>();
      Producer{pipeline, args, copied}.run(warp / kWarpsOfWarpgroup);
    } else {
      take_registers<kRegisters.consumer>();
      consume(pipeline, smem + Pipeline::kBuffersBytes);
    }
    // Others copy into this block's stages, and arrive at its barriers, until they have ended.
    if constexpr (Pipeline::Place::kBlocks > 1) Pipeline::meet();
  }
};

}  // namespace gemmtune
