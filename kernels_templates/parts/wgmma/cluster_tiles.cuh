#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/cluster_place.cuh"

// The tiles of C that clusters take in turns, with a stride of as many as there are clusters.
//
// What a tile has outside of C costs time, since TMA fills zeros in slower than it loads. With an
// edge such a tile ends where C does (edge_ends_rows(), edge_ends_columns()), and computes some of
// its neighbour's results again, which are the same. With kEndsWithRows (ends_with_few_rows())
// tiles end with C's rows without an edge. Where C is read, that would be what the neighbour has
// written, and tiles stick out.

namespace gemmtune {

template <TileConfig kTile, Scale kScale, bool kEndsWithRows>
struct ClusterTiles {
  using Place = ClusterPlace<kTile>;
  static constexpr int kM = kTile.tile_m * Place::kM;
  static constexpr int kN = kTile.tile_n * Place::kN;

  int count;  // of clusters' tiles
  int step;   // clusters

  static __device__ __forceinline__ ClusterTiles of(const GemmArgs& args) {
    return {(args.m + kM - 1) / kM * ((args.n + kN - 1) / kN) * args.batch,
            static_cast<int>(gridDim.x) / Place::kBlocks};
  }
  static __device__ __forceinline__ int first() {
    return static_cast<int>(blockIdx.x) / Place::kBlocks;
  }

  // A block's tile of C: where it begins.
  struct At {
    int batch;
    int row;
    int column;

    static __device__ __forceinline__ At of(const GemmArgs& args, const Place& place, int tile) {
      const auto at = tile_coordinates<kM, kN, unsigned>(args.m, args.n, tile, args.raster);
      At out = {at.batch, (at.row * Place::kM + place.m) * kTile.tile_m,
                (at.column * Place::kN + place.n) * kTile.tile_n};
      if constexpr (kEndsWithRows || kTile.edge != 0) {
        if (args.beta == 0.0f) out.end_with_c(args);
      }
      return out;
    }

   private:
    __device__ __forceinline__ void end_with_c(const GemmArgs& args) {
      constexpr int kRowUnit = kEndsWithRows ? 1 : kEdgeUnit;  // few rows have k contiguous
      if constexpr (kEndsWithRows || edge_ends_rows(kTile, kScale))
        row = min(row, last_begin<kRowUnit>(args.m, kTile.tile_m));
      if constexpr (edge_ends_columns(kTile, kScale))
        column = min(column, last_begin<kEdgeUnit>(args.n, kTile.tile_n));
    }
    // Of tiles within an extent of C.
    template <int kUnit>
    static __device__ __forceinline__ int last_begin(int extent, int tile) {
      return max((extent + kUnit - 1) / kUnit * kUnit - tile, 0);
    }
  };
};

}  // namespace gemmtune
