#pragma once

#include "parts/shared/gemm_args.h"
#include "parts/shared/stream_k_ranges.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_stream_k.h"
#include "parts/wgmma/cluster_place.cuh"

// What a cluster computes in turn: the tiles of its range of shared k tiles, of which the first and
// the last may be cut, then whole tiles with a stride of as many as there are clusters.

namespace gemmtune {

template <TileConfig kTile>
struct StreamKWork {
  using Place = ClusterPlace<kTile>;

  WgmmaStreamKRanges ranges;
  int position;  // of the cluster's range in the line
  int tile;      // that is next
  int first;     // k tile of that
  int left;      // k tiles of the range

  // Ranges go to clusters from the last to the first: whoever begins a tile adds up what the ranges
  // behind its own have of it, and these belong to clusters that were launched before.
  static __device__ __forceinline__ StreamKWork of(const GemmArgs& args) {
    StreamKWork work;
    work.ranges = WgmmaStreamKRanges(kTile, args);
    const int cluster = static_cast<int>(blockIdx.x) / Place::kBlocks;
    work.position = work.ranges.busy() - 1 - cluster;
    work.left = 0;
    if (work.ranges.split_tiles > 0) {
      const int begin = work.ranges.begin(work.position);
      work.tile = begin / work.ranges.tiles_k;
      work.first = begin - work.tile * work.ranges.tiles_k;
      work.left = work.ranges.begin(work.position + 1) - begin;
    }
    if (work.left == 0) work.begin_whole_tiles();
    return work;
  }

  __device__ __forceinline__ bool ended() const { return left == 0 && tile >= ranges.tiles; }

  // k tiles of the next tile that the cluster multiplies.
  __device__ __forceinline__ int count() const {
    const int rest = ranges.tiles_k - first;
    return left > 0 && left < rest ? left : rest;
  }

  // Of the next tile: whether the cluster stores its results, and then how many ranges behind its
  // own have the rest of it.
  __device__ __forceinline__ bool stores() const { return first == 0; }
  __device__ __forceinline__ int others() const {
    if (left == 0 || left >= ranges.tiles_k) return 0;
    return ranges.block_of((tile + 1) * ranges.tiles_k - 1) - position;
  }
  // The slot of a range's first tile, of the block at `place`.
  static __device__ __forceinline__ int slot(int position, const Place& place) {
    return position * Place::kBlocks + place.m * Place::kN + place.n;
  }

  __device__ __forceinline__ void advance() {
    if (left > 0) {
      left -= count();
      first = 0;
      ++tile;
      if (left == 0) begin_whole_tiles();
    } else {
      tile += ranges.blocks;
    }
  }

 private:
  __device__ __forceinline__ void begin_whole_tiles() {
    first = 0;
    tile = ranges.split_tiles + (ranges.busy() - 1 - position);
  }
};

}  // namespace gemmtune
