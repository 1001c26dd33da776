#pragma once

#include "parts/reduce/k_range.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny/line_rotation.cuh"
#include "parts/skinny/skinny_geometry.cuh"
#include "parts/skinny/skinny_results.cuh"
#include "parts/skinny/skinny_stream.cuh"

// What gemv and skinny share: everything but the way in which the short operand reaches the
// threads, class Short<kTile, kTraits> with
//
//     kSmemBytes           shared memory it needs during the main loop, beside the ring
//     kSlotFloats          what it takes of a slot of the ring; if that is not 0:
//         copy(slot)       starts copying its next chunk
//         turn_to(slot)    what read() reads from now on lies there
//     Short(smem, base, ld, start, extent, k_begin, k_end)
//     prepare(k)           called by all threads before the chunk at k is multiplied
//     kGroup, Group        values of k read at once, and where to
//     read(group, k, u)    group[v][r] is at k_of(u + v) of the chunk that begins at k
//
// The long operand, by kTile.copy:
//   kCopyDirect   straight to registers: a chunk when it is needed, or, with two fragments, while
//   the
//                 last one is multiplied
//   kCopyAsync    a ring of kTile.stages chunks in shared memory, filled by cp.async (sm_80 and
//   up).
//                 A thread reads only what it has copied itself, so there is no barrier: the ring
//                 just holds more bytes in flight than the registers could.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits,
          template <TileConfig, KernelTraits> class ShortOperand>
struct SkinnyGemm {
  using G = SkinnyGeometry<kTile, kTraits>;
  using Results = SkinnyResults<kTile, kTraits>;
  using Long = LongStream<kTile, kTraits>;
  using Short = ShortOperand<kTile, kTraits>;
  using Reduction = typename Results::Reduction;

  static constexpr int kThreads = G::kThreads;
  static constexpr bool kRing = kTile.copy == kCopyAsync;
  static constexpr bool kShortInRing = Short::kSlotFloats > 0;
  static_assert(kRing || !kShortInRing, "what goes through the ring goes by cp.async");
  static constexpr int kSlotFloats = Long::kSlotFloats + Short::kSlotFloats;
  static constexpr int kLoopBytes =
      Short::kSmemBytes + (kRing ? kTile.stages * kSlotFloats * 4 : 0);
  static constexpr int kSmemBytes =
      kLoopBytes > Results::kSmemBytes ? kLoopBytes : Results::kSmemBytes;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    extern __shared__ __align__(16) float smem[];
    const int slice = static_cast<int>(blockIdx.x) % Results::kSlices;
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(
        args.m, args.n, static_cast<int>(blockIdx.x) / Results::kSlices, args.raster);
    const auto tile = Results::Tile::of(args, at);
    const float* a = static_cast<const float*>(args.a) + at.batch * args.stride_a;
    const float* b = static_cast<const float*>(args.b) + at.batch * args.stride_b;
    const auto [k_begin, k_end] = k_range<G::kChunk, Results::kSlices>(args.k, slice);
    Results results;
    if constexpr (G::kShortRows) {
      Long stream(b, args.ldb, tile.column, args.n, tile.rotation, k_begin, k_end);
      Short short_side(smem, a, args.lda, tile.row, args.m, k_begin, k_end);
      sum_over_k(results, smem, stream, short_side, k_begin, k_end);
    } else {
      Long stream(a, args.lda, tile.row, args.m, tile.rotation, k_begin, k_end);
      Short short_side(smem, b, args.ldb, tile.column, args.n, k_begin, k_end);
      sum_over_k(results, smem, stream, short_side, k_begin, k_end);
    }
    results.store(smem, args, tile, at.batch, slice);
  }

  static constexpr int kFinishThreads = Reduction::kFinishThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) { Reduction::finish(args); }

  static constexpr int kPrepareThreads = Reduction::kPrepareThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) { Reduction::prepare(args); }

 private:
  using Chunk = typename Long::Chunk;

  static __device__ __forceinline__ void sum_over_k(Results& results, float* smem, Long& stream,
                                                    Short& short_side, int k_begin, int k_end) {
    if constexpr (kRing) {
      sum_through_ring(results, smem + Short::kSmemBytes / 4, stream, short_side, k_begin, k_end);
    } else if constexpr (kTile.fragments == 2) {
      Chunk next;
      stream.load(next);
      for (int k = k_begin; k < k_end; k += G::kChunk) {
        Chunk chunk;
#pragma unroll
        for (int u = 0; u < G::kUnroll; ++u) {
#pragma unroll
          for (int o = 0; o < G::kThreadLong; ++o) chunk[u][o] = next[u][o];
        }
        stream.load(next);  // zeros past the end
        short_side.prepare(k);
        multiply(results, chunk, short_side, k);
      }
    } else {
      for (int k = k_begin; k < k_end; k += G::kChunk) {
        Chunk chunk;
        stream.load(chunk);
        short_side.prepare(k);
        multiply(results, chunk, short_side, k);
      }
    }
  }

  // Slot t % stages holds chunk t. The slot that is filled next was read an iteration ago.
  static __device__ __forceinline__ void sum_through_ring(Results& results, float* ring,
                                                          Long& stream, Short& short_side,
                                                          int k_begin, int k_end) {
    constexpr int kLast = (kTile.stages - 1) * kSlotFloats;
#pragma unroll
    for (int s = 0; s < kTile.stages - 1; ++s) copy(ring + s * kSlotFloats, stream, short_side);
    float* reading = ring;
    float* writing = ring + kLast;
    for (int k = k_begin; k < k_end; k += G::kChunk) {
      cp_async_wait<kTile.stages - 2>();
      if constexpr (kShortInRing) {
        __syncwarp();  // the other lanes' copies, and their reads of the last slot
        short_side.turn_to(reading + Long::kSlotFloats);
      }
      Chunk chunk;
      Long::read(chunk, reading);
      copy(writing, stream, short_side);  // zeros past the end
      short_side.prepare(k);
      multiply(results, chunk, short_side, k);
      writing = reading;
      reading = reading == ring + kLast ? ring : reading + kSlotFloats;
    }
    cp_async_wait<0>();  // the results take the ring's place
  }

  static __device__ __forceinline__ void copy(float* slot, Long& stream, Short& short_side) {
    stream.copy(slot);
    if constexpr (kShortInRing) short_side.copy(slot + Long::kSlotFloats);
    cp_async_commit();
  }

  static __device__ __forceinline__ void multiply(Results& results, const Chunk& chunk,
                                                  const Short& short_side, int k) {
#pragma unroll
    for (int u = 0; u < G::kUnroll; u += Short::kGroup) {
      typename Short::Group group;
      short_side.read(group, k, u);
#pragma unroll
      for (int v = 0; v < Short::kGroup; ++v) {
#pragma unroll
        for (int r = 0; r < G::kShort; ++r) {
#pragma unroll
          for (int o = 0; o < G::kThreadLong; ++o) {
            results.acc[r][o] = fmaf(group[v][r], chunk[u + v][o], results.acc[r][o]);
          }
        }
      }
    }
  }
};

}  // namespace gemmtune
