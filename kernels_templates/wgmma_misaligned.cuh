#pragma once

#include "parts/operand/aligned_copy.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/prepared_gemm.cuh"
#include "wgmma_tma.cuh"

// wgmma_misaligned: wgmma_tma for operands whose extents or leading dimensions 16 bytes do not
// divide, which TMA cannot copy. A first kernel, prepare(), copies them into the workspace with
// lines that begin at multiples of 128 bytes (aligned_copy.cuh); the second is wgmma_tma, whose
// tensor maps are of the copies.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaMisaligned
    : PreparedGemm<AlignedOperands<kTraits, typename CopiedElement<kTypes.operand>::Type>,
                   WgmmaTma<kTile, kTraits, kTypes>> {};

}  // namespace gemmtune
