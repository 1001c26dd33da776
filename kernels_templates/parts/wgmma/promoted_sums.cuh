#pragma once

#include "parts/ptx/wgmma.cuh"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/block_scales.cuh"
#include "parts/wgmma/k_passes.cuh"

// Sums of a tile of C over all of k. wgmma cuts its sums off instead of rounding them, which over a
// long k is an error of its own, and those of 8-bit products after 13 bits; where that matters, the
// sums of a part of k are added to others by plain f32 additions, which round. There parts of one
// stage may be scaled, too (block_scales.cuh).

namespace gemmtune {

template <class Mainloop, class Passes>
struct PromotedSums {
  using Sums = typename Mainloop::Sums;

  // Of `tiles` tiles of k, whose sums are added as `parts` says (PlainParts or ScaledParts);
  // otherwise as Mainloop::run.
  template <class Pipeline, class Parts, class Issued>
  static __device__ __forceinline__ void run(Sums& sums, const Pipeline& pipeline,
                                             typename Pipeline::Ring& ring,
                                             const typename Pipeline::Place& place, int first_row,
                                             int tiles, Parts parts, Issued issued) {
    if constexpr (Passes::kOverlapsParts) {
      run_overlapped(sums, pipeline, ring, place, first_row, tiles, parts, issued);
    } else if constexpr (Parts::kHasScales) {
      sums.clear();
      for (int tile = 0; tile < tiles; ++tile) {
        Sums part;
        Mainloop::issue(part, pipeline, ring, first_row, false);
        if (tile == tiles - 1) issued();
        const auto scales = parts.read(ring.stage);
        wgmma_wait<0>();
        add(sums, part, pipeline, place, ring.stage, parts, scales);
        ring.advance();
      }
    } else if constexpr (Passes::kInParts) {
      sums.clear();
      for (int tile = 0; tile < tiles; tile += Passes::kPartTiles) {
        const int rest = tiles - tile;
        const bool is_last = rest <= Passes::kPartTiles;
        const int part_tiles = is_last ? rest : Passes::kPartTiles;
        Sums part;
        Mainloop::run(part, pipeline, ring, place, first_row, Passes::stages(part_tiles), [&] {
          if (is_last) issued();
        });
        sums.add(part);
      }
    } else {
      Mainloop::run(sums, pipeline, ring, place, first_row, tiles, issued);
    }
  }

 private:
  // Adds the sums of a stage that is multiplied, and releases it.
  template <class Pipeline, class Parts>
  static __device__ __forceinline__ void add(Sums& sums, const Sums& part, const Pipeline& pipeline,
                                             const typename Pipeline::Place& place, int stage,
                                             const Parts& parts,
                                             const typename Parts::Scales& scales) {
    if constexpr (Parts::kReadsAsItAdds) parts.add(sums, part, scales);
    if constexpr (Parts::kHasScales) __syncwarp();  // all lanes have read its scales
    pipeline.release(stage, place);
    if constexpr (!Parts::kReadsAsItAdds) parts.add(sums, part, scales);
  }

  // Of parts of one stage: the products of a part are under way while the sums of the one before
  // are added, so that the tensor cores need not wait for that.
  template <class Pipeline, class Parts, class Issued>
  static __device__ __forceinline__ void run_overlapped(Sums& sums, const Pipeline& pipeline,
                                                        typename Pipeline::Ring& ring,
                                                        const typename Pipeline::Place& place,
                                                        int first_row, int tiles, Parts& parts,
                                                        Issued issued) {
    using Scales = typename Parts::Scales;
    Sums even;
    Sums odd;
    sums.clear();
    int last = ring.stage;
    const auto go_on = [&](Sums& next, Scales& of_next, Sums& done, const Scales& of_done) {
      Mainloop::issue(next, pipeline, ring, first_row, false);
      of_next = parts.read(ring.stage);
      wgmma_wait<1>();
      add(sums, done, pipeline, place, last, parts, of_done);
      last = ring.stage;
      ring.advance();
    };
    const auto end = [&](Sums& done, const Scales& of_done) {
      issued();
      wgmma_wait<0>();
      add(sums, done, pipeline, place, last, parts, of_done);
    };
    Mainloop::issue(even, pipeline, ring, first_row, false);
    Scales of_even = parts.read(ring.stage);
    Scales of_odd;
    ring.advance();
    int tile = 1;
    for (; tile + 1 < tiles; tile += 2) {
      go_on(odd, of_odd, even, of_even);
      go_on(even, of_even, odd, of_odd);
    }
    if (tile < tiles) {
      go_on(odd, of_odd, even, of_even);
      end(odd, of_odd);
    } else {
      end(even, of_even);
    }
  }
};

}  // namespace gemmtune
