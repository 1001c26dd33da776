#pragma once

#include "parts/operand/bf16_planes.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/prepared_gemm.cuh"
#include "wgmma_tma.cuh"

// wgmma_planes: f32 on Hopper's bf16 tensor cores. A first kernel, prepare(), splits both operands
// into three bf16 planes in the workspace (bf16_planes.cuh); the second is wgmma_tma, which sums
// six or nine products of planes (plane_pairs.h).

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaPlanes : PreparedGemm<SplitOperands<kTraits>, WgmmaTma<kTile, kTraits, kTypes>> {};

}  // namespace gemmtune
