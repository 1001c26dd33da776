#pragma once

#include "parts/operand/k_major_copy.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/prepared_gemm.cuh"
#include "wgmma_tma.cuh"

// wgmma_k_major: wgmma_tma for tf32 operands whose k is not contiguous, which wgmma reads no other
// way, or that 16 bytes do not divide. A first kernel, prepare(), copies them into the workspace,
// transposed where needed (k_major_copy.cuh); the second is wgmma_tma, whose tensor maps are of the
// copies.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WgmmaKMajor : PreparedGemm<KMajorOperands<kTraits>,
                                  WgmmaTma<kTile, KMajorOperands<kTraits>::kAligned, kTypes>> {};

}  // namespace gemmtune
