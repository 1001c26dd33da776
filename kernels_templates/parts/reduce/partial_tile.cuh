#pragma once

#include "parts/epilogue/simt_epilogue.cuh"
#include "parts/ptx/cluster.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/tile_config.h"

// A tile of partial sums in shared memory, [tile_m][tile_n + 4] floats (padded against bank
// conflicts), on its way to other threads or other blocks of a cluster.

namespace gemmtune {

template <TileConfig kTile>
struct PartialTile {
  static constexpr int kStride = partial_row_floats(kTile);
  static constexpr int kFloats = kTile.tile_m * kStride;
  static constexpr int kRowVectors = kTile.tile_n / 4;
  static constexpr int kVectors = kTile.tile_m * kRowVectors;  // of 4 floats

  // Row, first column and offset of vector v, counted row by row.
  static __device__ __forceinline__ int row_of(int v) { return v / kRowVectors; }
  static __device__ __forceinline__ int column_of(int v) { return v % kRowVectors * 4; }
  static __device__ __forceinline__ int offset_of(int v) {
    return row_of(v) * kStride + column_of(v);
  }

  // Stores the calling thread's sums to the tile at `to`.
  template <class Tile>
  static __device__ __forceinline__ void store(const Tile& tile, float* to, const GemmArgs& args) {
    const float one = opaque_one(args);
#pragma unroll
    for (int i = 0; i < Tile::kM; ++i) {
      float* row = to + (tile.row + Tile::row_offset(i)) * kStride + tile.column;
#pragma unroll
      for (int j = 0; j < Tile::kN; j += 4) {
        const auto& acc = tile.acc[i];
        store_vector<4>(row + Tile::column_offset(j),
                        {one * acc[j], one * acc[j + 1], one * acc[j + 2], one * acc[j + 3]});
      }
    }
  }

  // Adds up the tiles that all kBlocks blocks of a cluster have at `from` in their shared memory,
  // in the order of their ranks, and stores C from (row, column) on. Block `rank` does every
  // kBlocks-th run of kThreads vectors. All threads of the cluster come here.
  template <int kBlocks, int kThreads, int kVectorC, class Writer>
  static __device__ __forceinline__ void sum_in_cluster(const float* from, const Writer& writer,
                                                        int row, int column, int rank) {
    cluster_sync();
    for (int v = rank * kThreads + static_cast<int>(threadIdx.x); v < kVectors;
         v += kBlocks * kThreads) {
      const float* at = from + offset_of(v);
      float4 sum = cluster_load(at, 0);
#pragma unroll
      for (int block = 1; block < kBlocks; ++block) {
        const float4 x = cluster_load(at, block);
        sum.x += x.x, sum.y += x.y, sum.z += x.z, sum.w += x.w;
      }
      const int m = row + row_of(v);
      if (m < writer.args.m) {
        writer.template store_row<kVectorC>({sum.x, sum.y, sum.z, sum.w}, m, column + column_of(v));
      }
    }
    cluster_sync();  // no block may leave while others read its shared memory
  }
};

}  // namespace gemmtune
