#pragma once

#include "parts/ptx/elect.cuh"
#include "parts/ptx/mbarrier.cuh"
#include "parts/ptx/tensor_copy.cuh"
#include "parts/shared/direct_block.h"
#include "parts/shared/element_sizes.h"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tensor_map.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_tiles.h"
#include "parts/wgmma/cluster_tiles.cuh"

// The warpgroups that fill the stages where TMA can copy one operand only: they load the other one
// themselves (direct_operand.cuh, direct_tf32_operand.cuh), and one of their threads has TMA copy
// the first.
//
//     warpgroup 0: | load 2, store 0 |                 | load 4, store 2 |      stages in turns
//     warpgroup 1:          | load 3, store 1 |                 | load 5, store 3 |
//
// A stage is full when the bytes of TMA have arrived, and each warp with what it stored.

namespace gemmtune {

// Tiles of C, each over all of k. kTraits are those of the tiles in shared memory.
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, bool kDirectA>
struct DirectTiles
    : ClusterTiles<kTile, kTraits.epilogue.scale,
                   !kDirectA &&
                       ends_with_few_rows(kTile, kTraits.a_row_major, kTraits.vector_c,
                                          size_bytes(kTypes.result), kTraits.epilogue.scale)> {
  using At = typename DirectTiles::ClusterTiles::At;
  using Place = typename DirectTiles::ClusterTiles::Place;
  static constexpr int kStagesAhead = 0;
  static __device__ __forceinline__ At at(const GemmArgs& args, const Place& place, int tile) {
    return At::of(args, place, tile);
  }
  static __device__ __forceinline__ int begin(const GemmArgs&, int) { return 0; }
  static __device__ __forceinline__ int end(const GemmArgs& args, int) {
    return (args.k + kTile.tile_k - 1) / kTile.tile_k * kTile.tile_k;
  }
};

// kTraits are those of the tiles in shared memory. Direct says which operand the threads load
// (kIsA), what its lines are in memory (kTraits), and how they do it (Operand). Tiles are those
// that the block fills stages for: where they are in C, and their k, from `begin` up to `end`,
// which is of whole stages, and how many stages ahead L2 is asked for what threads load (as
// DirectTiles). Only the first may begin behind 0.
template <TileConfig kTile, class Direct, class Pipeline, class WhichTiles>
struct DirectProducer {
  static constexpr bool kDirectA = Direct::kIsA;
  using Operand = typename Direct::Operand;
  using Tiles = WhichTiles;
  using Ring = typename Pipeline::Ring;
  // That a full stage waits for.
  static constexpr int kArrivals = kWarpsOfWarpgroup + 1;

  const Pipeline& pipeline;
  const GemmArgs& args;
  const TensorMap& copied;  // what TMA copies

  // By all threads of warpgroup `group` of the producers.
  __device__ __forceinline__ void run(int group) const {
    await_kernels_before();
    Step step = Step::of(args, Tiles::first(), Tiles::begin(args, Tiles::first()));
    Ring ring;
    if (group > 0) {
      step.advance(args, group);
      ring.skip(group);
    }
    while (step.exists(args)) {
      if (step.is_plain()) {
        fill_plain(ring, step);
      } else {
        fill_any(ring, step);
      }
    }
  }

 private:
  // A stage's share of the work: a tile of C and k.
  struct Step {
    int tile;
    int k;
    typename Tiles::At at;
    typename Operand::Place place;

    static __device__ __forceinline__ Step of(const GemmArgs& args, int tile, int k) {
      Step out;
      out.tile = tile;
      out.k = k;
      out.at = Tiles::at(args, Pipeline::Place::of_block(), tile);
      out.find_place(args);
      return out;
    }

    __device__ __forceinline__ void find_place(const GemmArgs& args) {
      place = operand(args).at(side(), k);
    }

    // Stages further on.
    __device__ __forceinline__ void advance(const GemmArgs& args, int stages) {
      const int end = Tiles::end(args, tile);
      k += stages * kTile.tile_k;
      if (k >= end) {
        do {
          k -= end;
          tile += Tiles::of(args).step;
        } while (k >= end);
        *this = of(args, tile, k);
      } else {
        operand(args).advance(place, stages);
      }
    }

    __device__ __forceinline__ bool exists(const GemmArgs& args) const {
      return tile < Tiles::of(args).count;
    }
    __device__ __forceinline__ bool is_plain() const { return place.plain > 0; }

    __device__ __forceinline__ Operand operand(const GemmArgs& args) const {
      using Element = typename Operand::Element;
      if constexpr (kDirectA) {
        constexpr bool kRowMajor = Direct::kTraits.a_row_major;
        return {static_cast<const Element*>(args.a) + at.batch * args.stride_a, args.lda,
                kRowMajor ? args.m : args.k, kRowMajor ? args.k : args.m};
      } else {
        constexpr bool kRowMajor = Direct::kTraits.b_row_major;
        return {static_cast<const Element*>(args.b) + at.batch * args.stride_b, args.ldb,
                kRowMajor ? args.k : args.n, kRowMajor ? args.n : args.k};
      }
    }

    // Where the operand's tile begins along m or n.
    __device__ __forceinline__ int side() const { return kDirectA ? at.row : at.column; }
  };

  // Fills stages as long as they are plain. What the next one takes is loaded as this one is
  // stored.
  __device__ __forceinline__ void fill_plain(Ring& ring, Step& step) const {
    typename Operand::Chunks chunks[Operand::kParts];
#pragma unroll
    for (int part = 0; part < Operand::kParts; ++part)
      step.operand(args).load(chunks[part], step.place, part);
    bool goes_on = true;
    while (goes_on) {
      begin(ring, step);
      if constexpr (Tiles::kStagesAhead > 0) ask_ahead(step);
      step.advance(args, kDirectProducers);
      goes_on = step.exists(args) && step.is_plain();
#pragma unroll
      for (int part = 0; part < Operand::kParts; ++part) {
        Operand::store(chunks[part], tile(ring.stage), part);
        if (goes_on) step.operand(args).load(chunks[part], step.place, part);
      }
      publish(ring);
    }
  }

  // Has L2 fetch what a later stage takes.
  __device__ __forceinline__ void ask_ahead(const Step& step) const {
    if (step.place.plain > Tiles::kStagesAhead)
      step.operand(args).fetch_to_l2(step.side(), step.k + Tiles::kStagesAhead * kTile.tile_k);
  }

  // Fills a stage.
  __device__ __forceinline__ void fill_any(Ring& ring, Step& step) const {
    begin(ring, step);
#pragma unroll 1
    for (int part = 0; part < Operand::kParts; ++part)
      step.operand(args).move(step.side(), step.k, tile(ring.stage), part);
    step.advance(args, kDirectProducers);
    step.find_place(args);
    publish(ring);
  }

  // Of the operand that threads load, in shared memory.
  __device__ __forceinline__ unsigned tile(int stage) const {
    return kDirectA ? pipeline.tile_a(stage) : pipeline.tile_b(stage);
  }

  // Waits until the ring's stage is empty, and has TMA copy its share of the other operand.
  __device__ __forceinline__ void begin(const Ring& ring, const Step& step) const {
    mbarrier_wait(pipeline.empty(ring.stage), ring.parity ^ 1);
    if (threadIdx.x / 32 % kWarpsOfWarpgroup == 0 && is_elected()) copy(ring.stage, step);
    __syncwarp();
  }
  __device__ __forceinline__ void copy(int stage, const Step& step) const {
    const auto place = Pipeline::Place::of_block();
    const unsigned barrier = pipeline.full(stage);
    if constexpr (kDirectA) {
      using Tile = typename Pipeline::TileB;
      mbarrier_arrive_expect(barrier, Tile::kBytes);
      Tile::load(pipeline.tile_b(stage), copied, Tile::kPartRows, step.at.column, step.k,
                 step.at.batch, barrier, stage, place.m, place.column());
    } else {
      using Tile = typename Pipeline::TileA;
      const int lines = Pipeline::lines_of_a(args);
      mbarrier_arrive_expect(barrier, Tile::loaded_bytes(lines));
      Tile::load(pipeline.tile_a(stage), copied, lines, step.at.row, step.k, step.at.batch, barrier,
                 stage, place.n, place.row());
    }
  }

  // What the warp has stored of the ring's stage; the ring goes on to the warpgroup's next one.
  __device__ __forceinline__ void publish(Ring& ring) const {
    tensor_store_fence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(pipeline.full(ring.stage));
    ring.skip(kDirectProducers);
  }
};

}  // namespace gemmtune
