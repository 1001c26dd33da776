#pragma once

#include "parts/operand/tf32_planes.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/prepared_gemm.cuh"
#include "wgmma_tma.cuh"

// wgmma_tf32_planes: 3xtf32 on Hopper's tensor cores. A first kernel, prepare(), splits both
// operands into two tf32 planes in the workspace, with k contiguous, which wgmma reads no other way
// (k_major_copy.cuh, tf32_planes.cuh); the second is wgmma_tma, which sums three products of planes
// (plane_pairs.h). Its stages hold both planes of both operands, so that each is loaded once for
// all three.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaTf32Planes
    : PreparedGemm<Tf32Planes<kTraits>,
                   WgmmaTma<kTile, Tf32Planes<kTraits>::kAligned, kTypes, kTraits>> {};

}  // namespace gemmtune
