#pragma once

#include "parts/shared/element_types.h"
#include "parts/shared/plane_pairs.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"

// The order in which the stages of a tile of C go through k: once, or, for operands that lie as
// planes, a part of k at a time and of that once per pair of planes:
//
//     k 0..255: planes (2, 0) of all, planes (1, 1) of all, ... ; k 256..511: planes (2, 0) ...
//
// Planes that a stage holds all of, of both operands, are loaded once instead, and the stage is
// multiplied once per pair.
//
// The sums of parts of k are promoted in either case (promoted_sums.cuh), and so are those of 8-bit
// products.

namespace gemmtune {

template <TileConfig kTile, ElementTypes kTypes>
struct KPasses {
  using Pairs = PlanePairs<kTypes.products>;
  static constexpr bool kInPlanes = Pairs::kCount > 1;
  static constexpr int kStagePlanes = Pairs::kStagePlanes;  // of an operand
  static constexpr bool kInPasses = kInPlanes && kStagePlanes == 1;
  static constexpr int kTileStages = kInPasses ? Pairs::kCount : 1;  // of a tile of k
  static constexpr int kStagePairs = Pairs::kCount / kTileStages;    // that it is multiplied by
  static constexpr bool kInParts = kInPlanes || promotes_sums(kTypes);
  static constexpr int kPartTiles = promotion_tiles(kTile);  // tiles of k of a part
  static constexpr bool kOverlapsParts =
      kInParts && kPartTiles * kTileStages == 1 && overlaps_parts(kTile);

  // Stages of `tiles` tiles of k.
  static __device__ __forceinline__ int stages(int tiles) { return tiles * kTileStages; }

  // The planes in a stage of its pair number `pair`.
  static constexpr __device__ __forceinline__ int plane_a(int pair) {
    return kInPasses ? 0 : Pairs::a(pair);
  }
  static constexpr __device__ __forceinline__ int plane_b(int pair) {
    return kInPasses ? 0 : Pairs::b(pair);
  }

  // Of entry `batch` of an operand: planes that all products share lie there once.
  static __device__ __forceinline__ int first_matrix(int batch, long long stride) {
    if constexpr (kInPlanes) {
      return stride == 0 ? 0 : batch * Pairs::kPlanes;
    } else {
      return batch;
    }
  }

  // load(k, plane of A, plane of B) for each stage: of several planes the first ones.
  template <class Load>
  static __device__ __forceinline__ void for_each(int k_begin, int k_end, Load load) {
    if constexpr (kInPasses) {
      constexpr int kPart = kPartTiles * kTile.tile_k;
      for (int part = k_begin; part < k_end; part += kPart) {
        const int end = part + kPart < k_end ? part + kPart : k_end;
        for (int pair = 0; pair < Pairs::kCount; ++pair) {
          for (int k = part; k < end; k += kTile.tile_k) load(k, Pairs::a(pair), Pairs::b(pair));
        }
      }
    } else {
      for (int k = k_begin; k < k_end; k += kTile.tile_k) load(k, 0, 0);
    }
  }
};

}  // namespace gemmtune
