#pragma once

#include "parts/ptx/cluster.cuh"
#include "parts/ptx/mbarrier.cuh"
#include "parts/ptx/shared_access.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/block_scales.cuh"
#include "parts/wgmma/cluster_place.cuh"
#include "parts/wgmma/k_passes.cuh"
#include "parts/wgmma/operand_tiles.cuh"
#include "parts/wgmma/stage_ring.cuh"

// The stages of shared memory between the warpgroup that copies (the producer) and those that
// multiply (the consumers), with two barriers each:
//
//     full:   the producer announces a stage's bytes, TMA counts them as they arrive
//     empty:  each warp that has multiplied a stage arrives, at all blocks that copy into it
//
//     producer: wait empty -> announce -> copy      consumer: wait full -> multiply -> arrive

namespace gemmtune {

// kBehind bytes of shared memory lie between the stages and the barriers.
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, int kBehind>
struct WgmmaPipeline {
  using Place = ClusterPlace<kTile>;
  using Ring = StageRing<kTile.stages>;
  using Passes = KPasses<kTile, kTypes>;
  static constexpr int kElementBytes = multiplied_bytes(kTypes);
  using TileA =
      OperandTile<kTraits.a_row_major, kTile.tile_m, kTile.tile_k, kElementBytes, Place::kN, false>;
  using TileB = OperandTile<!kTraits.b_row_major, kTile.tile_n, kTile.tile_k, kElementBytes,
                            Place::kM, kTraits.b_read_once>;
  static constexpr int kPlanes = Passes::kStagePlanes;  // of an operand, one behind the other
  static constexpr int kStageBytes = kPlanes * (TileA::kBytes + TileB::kBytes);
  using Scales = StageScales<kTile, kTraits.epilogue.scale>;
  static constexpr int kTilesBytes = kTile.stages * kStageBytes;
  static constexpr int kBuffersBytes =
      kTilesBytes + wgmma_scales_bytes(kTile, kTraits.epilogue.scale);
  static constexpr bool kFewRows = is_of_few_rows(kTile, kTraits.a_row_major);
  static constexpr int kSmemBytes = kBuffersBytes + kBehind + wgmma_barriers_bytes(kTile);
  static_assert(kBehind % kBarrierBytes == 0, "barriers are aligned");
  // Warps that multiply a stage of one block.
  static constexpr int kReaders =
      (kTile.schedule == kPingPong ? 1 : kTile.consumers) * kWarpsOfWarpgroup;

  unsigned smem;  // address of the buffers

  __device__ __forceinline__ unsigned tile_a(int stage) const { return smem + stage * kStageBytes; }
  __device__ __forceinline__ unsigned tile_b(int stage) const {
    return tile_a(stage) + kPlanes * TileA::kBytes;
  }
  __device__ __forceinline__ unsigned stage_scales(int stage) const {
    return smem + kTilesBytes + stage * Scales::kBytes;
  }
  __device__ __forceinline__ unsigned full(int stage) const {
    return smem + (kBuffersBytes + kBehind) + stage * kBarrierBytes;
  }
  __device__ __forceinline__ unsigned empty(int stage) const { return full(kTile.stages + stage); }

  // By one thread each, before the cluster's blocks meet: the barriers that the copies need, which
  // may start then, and the others. A full stage waits for so many `arrivals`.
  __device__ __forceinline__ void begin(int arrivals) const {
    for (int stage = 0; stage < kTile.stages; ++stage) mbarrier_init(full(stage), arrivals);
    mbarrier_init_fence();
  }
  __device__ __forceinline__ void begin(const TensorMap& a, const TensorMap& b) const {
    prefetch_tensor_map(a);
    prefetch_tensor_map(b);
    begin(1);
  }
  __device__ __forceinline__ void begin_releases() const {
    for (int stage = 0; stage < kTile.stages; ++stage)
      mbarrier_init(empty(stage), kReaders * Place::kSharers);
    mbarrier_init_fence();
  }

  // Of a part of A's boxes that are loaded.
  static __device__ __forceinline__ int lines_of_a(const GemmArgs& args) {
    return kFewRows ? TileA::part_lines(args.m) : TileA::kPartRows;
  }

  // By the block's warps from kFirstWarp on, before all meet: zeros where A has no lines to load.
  template <int kThreads, int kFirstWarp>
  __device__ __forceinline__ void clear_outside(const GemmArgs& args) const {
    if constexpr (kFewRows) {
      constexpr int kStep = 16 * (kThreads - 32 * kFirstWarp);
      const int loaded = TileA::kParts * TileA::kLineBytes * lines_of_a(args);
      if (loaded >= TileA::kBoxBytes) return;
      const int first = loaded + 16 * (static_cast<int>(threadIdx.x) - 32 * kFirstWarp);
      for (int stage = 0; stage < kTile.stages; ++stage) {
        for (int box = 0; box < kPlanes * TileA::kTile.boxes; ++box) {
          const unsigned to = tile_a(stage) + box * TileA::kBoxBytes;
          for (int byte = first; byte < TileA::kBoxBytes; byte += kStep)
            store_shared_words(to + byte, 0, 0, 0, 0);
        }
      }
      tensor_store_fence();
      // cluster_meet() releases no writes.
      if constexpr (Place::kBlocks > 1) {
        constexpr int kBarrier = 4;  // others have those before
        asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads - 32 * kFirstWarp)
                     : "memory");
      }
    }
  }

  // All threads of the block, or of all blocks of the cluster: barriers can be used afterwards.
  static __device__ __forceinline__ void meet() {
    if constexpr (Place::kBlocks > 1) {
      cluster_meet();
    } else {
      __syncthreads();
    }
  }

  // Fills the first stages of the tile that a block begins with, before the block's warps meet, and
  // by copies of its own, before those of its cluster do. Returns from which k on fill() goes on.
  // Only a few, since the consumers wait meanwhile, and what a cluster shares is loaded once by
  // each block.
  __device__ __forceinline__ int start(Ring& ring, const Place& place, const GemmArgs& args,
                                       const TensorMap& a, const TensorMap& b, int batch, int row,
                                       int column, int k_begin, int k_end) const {
    if constexpr (Passes::kInPasses) return k_begin;
    constexpr int kEarlyStages = Place::kBlocks > 1 ? 1 : 2;
    const int end = min(k_begin + kEarlyStages * kTile.tile_k, k_end);
    fill<true>(ring, place, args, a, b, batch, row, column, k_begin, end);
    return end;
  }

  // Fills the stages of a tile of C at (row, column) of entry `batch` with k from k_begin up to
  // k_end, by one thread, once they are empty.
  template <bool kIsStart = false>
  __device__ __forceinline__ void fill(Ring& ring, const Place& place, const GemmArgs& args,
                                       const TensorMap& a, const TensorMap& b, int batch, int row,
                                       int column, int k_begin, int k_end) const {
    const int entry_a = Passes::first_matrix(batch, args.stride_a);
    const int entry_b = Passes::first_matrix(batch, args.stride_b);
    const int lines = lines_of_a(args);
    auto scales = Scales::Copies::of(args, row, column, k_begin);
    const int stage_bytes = kPlanes * (TileA::loaded_bytes(lines) + TileB::kBytes) + scales.bytes();
    Passes::for_each(k_begin, k_end, [&](int k, int plane_a, int plane_b) {
      if constexpr (!kIsStart) {
        mbarrier_wait(empty(ring.stage), ring.parity ^ 1);
      }
      const unsigned barrier = full(ring.stage);
      mbarrier_arrive_expect(barrier, stage_bytes);
#pragma unroll
      for (int i = 0; i < kPlanes; ++i) {
        const unsigned to_a = tile_a(ring.stage) + i * TileA::kBytes;
        const unsigned to_b = tile_b(ring.stage) + i * TileB::kBytes;
        if constexpr (kIsStart) {
          TileA::load_alone(to_a, a, lines, row, k, entry_a + plane_a + i, barrier);
          TileB::load_alone(to_b, b, TileB::kPartRows, column, k, entry_b + plane_b + i, barrier);
        } else {
          TileA::load(to_a, a, lines, row, k, entry_a + plane_a + i, barrier, ring.stage, place.n,
                      place.row());
          TileB::load(to_b, b, TileB::kPartRows, column, k, entry_b + plane_b + i, barrier,
                      ring.stage, place.m, place.column());
        }
      }
      scales.load_next(stage_scales(ring.stage), barrier);
      ring.advance();
    });
  }

  // By the thread that filled the stages, before it ends: other blocks have read what it copied
  // into them, and have arrived at this block's barriers for the last time.
  __device__ __forceinline__ void drain(Ring& ring) const {
    if constexpr (Place::kBlocks > 1) {
      for (int stage = 0; stage < kTile.stages; ++stage) {
        mbarrier_wait(empty(ring.stage), ring.parity ^ 1);
        ring.advance();
      }
    }
  }

  // By each warp that has multiplied the stage.
  __device__ __forceinline__ void release(int stage, const Place& place) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (Place::kBlocks == 1) {
      if (lane == 0) mbarrier_arrive(empty(stage));
    } else {
      const unsigned blocks = place.row() | place.column();
      if (lane < Place::kBlocks && (blocks >> lane & 1) != 0)
        mbarrier_arrive_at_block(empty(stage), lane);
    }
  }
};

}  // namespace gemmtune
