#pragma once

#include "parts/ptx/mbarrier.cuh"
#include "parts/ptx/wgmma.cuh"
#include "parts/ptx/wgmma_instruction.cuh"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/wgmma_pipeline.cuh"

// What a consumer does with the stages of a tile: products of 64 rows and all columns, 32 bytes of
// k at a time, both operands from shared memory. The products of one stage are under way while the
// next one's are issued; then the first one's shared memory is released.

namespace gemmtune {

template <TileConfig kTile, class Pipeline>
struct WgmmaMainloop {
  static constexpr bool kExchanged = kTile.exchange != 0;
  static constexpr int kRowTiles = consumer_rows(kTile) / kWgmmaRows;
  static constexpr int kColumns = wgmma_tile_columns(kTile);
  static constexpr int kSteps =
      kTile.tile_k * Pipeline::kElementBytes / kWgmmaStepBytes;  // of a stage

  // Of a thread: kRowTiles of 64 rows.
  struct Sums {
    WgmmaSums at[kRowTiles];

    // Where nothing is multiplied; otherwise the first products replace what they hold.
    __device__ __forceinline__ void clear() {
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) at[i] = {};
    }

    // Of f32.
    __device__ __forceinline__ void add(const Sums& other) {
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns / 2; ++j) at[i].at[j] += other.at[i].at[j];
      }
    }
  };

  // Multiplies `stages` stages from the ring's on; first_row is the consumer's first row of the
  // block's tile. issued() is called once all products are under way.
  template <class Issued>
  static __device__ __forceinline__ void run(Sums& sums, const Pipeline& pipeline,
                                             typename Pipeline::Ring& ring,
                                             const typename Pipeline::Place& place, int first_row,
                                             int stages, Issued issued) {
    int last = -1;
    for (int i = 0; i < stages; ++i) {
      issue(sums, pipeline, ring, first_row, i > 0);
      wgmma_wait<1>();
      if (i > 0) pipeline.release(last, place);
      last = ring.stage;
      ring.advance();
    }
    issued();
    wgmma_wait<0>();
    pipeline.release(last, place);
  }

  // Issues the products of the ring's stage, a group of their own, once it is full. They are added
  // to what the sums hold, or replace it.
  static __device__ __forceinline__ void issue(Sums& sums, const Pipeline& pipeline,
                                               const typename Pipeline::Ring& ring, int first_row,
                                               bool adds) {
    mbarrier_wait(pipeline.full(ring.stage), ring.parity);
    wgmma_fence();
    multiply(sums, pipeline, ring.stage, first_row, adds);
    wgmma_commit();
  }

 private:
  // Products of a stage, those of one pair of planes after the other; the first ones replace what
  // the sums held unless it `adds`.
  static __device__ __forceinline__ void multiply(Sums& sums, const Pipeline& pipeline, int stage,
                                                  int first_row, bool adds) {
    using A = typename Pipeline::TileA;
    using B = typename Pipeline::TileB;
    using Passes = typename Pipeline::Passes;
    const unsigned long long a = A::descriptor(pipeline.tile_a(stage), kExchanged ? 0 : first_row);
    const unsigned long long b = B::descriptor(pipeline.tile_b(stage), kExchanged ? first_row : 0);
#pragma unroll
    for (int pair = 0; pair < Passes::kStagePairs; ++pair) {
      multiply(sums, wgmma_advanced(a, Passes::plane_a(pair) * A::kBytes),
               wgmma_advanced(b, Passes::plane_b(pair) * B::kBytes), adds || pair > 0);
    }
  }

  // Of the planes that the descriptors are of.
  static __device__ __forceinline__ void multiply(Sums& sums, unsigned long long a,
                                                  unsigned long long b, bool adds) {
    using A = typename Pipeline::TileA;
    using B = typename Pipeline::TileB;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const unsigned long long a_step = wgmma_advanced(a, A::step_offset(step));
      const unsigned long long b_step = wgmma_advanced(b, B::step_offset(step));
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        if constexpr (kExchanged) {
          wgmma(sums.at[i], wgmma_advanced(b_step, B::side_offset(i * kWgmmaRows)), a_step,
                adds || step > 0);
        } else {
          wgmma(sums.at[i], wgmma_advanced(a_step, A::side_offset(i * kWgmmaRows)), b_step,
                adds || step > 0);
        }
      }
    }
  }
};

}  // namespace gemmtune
