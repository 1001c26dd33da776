#pragma once

#include "codegen/strategy.h"

// Every strategy, in the order of the ladder (slowest idea first): strategies/NAME.cc defines
// `const Strategy& NAME()`.
// clang-format off
#define GEMMTUNE_STRATEGIES(X) \
  X(naive) \
  X(smem_tile) \
  X(thread_tile_1d) \
  X(thread_tile_2d) \
  X(register_cache) \
  X(vectorized) \
  X(warp_tile) \
  X(double_buffer) \
  X(multistage) \
  X(split_k) \
  X(sliced_k) \
  X(gemv) \
  X(skinny) \
  X(wmma) \
  X(mma_multistage) \
  X(mma_misaligned) \
  X(mma_split_k) \
  X(mma_stream_k) \
  X(wgmma_tma) \
  X(wgmma_split_k) \
  X(wgmma_stream_k) \
  X(wgmma_misaligned) \
  X(wgmma_direct) \
  X(wgmma_k_major) \
  X(wgmma_direct_tf32) \
  X(wgmma_direct_split_k) \
  X(wgmma_planes) \
  X(wgmma_tf32_planes)
// clang-format on

namespace gemmtune::codegen {

#define GEMMTUNE_DECLARE_STRATEGY(name) const Strategy& name();
GEMMTUNE_STRATEGIES(GEMMTUNE_DECLARE_STRATEGY)
#undef GEMMTUNE_DECLARE_STRATEGY

}  // namespace gemmtune::codegen
