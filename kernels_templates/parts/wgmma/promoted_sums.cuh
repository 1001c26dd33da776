#pragma once

#include "parts/ptx/wgmma.cuh"
#include "parts/shared/tile_config.h"
#include "parts/wgmma/k_passes.cuh"

// Sums of a tile of C over all of k. wgmma cuts its sums off instead of rounding them, which over a
// long k is an error of its own, and those of 8-bit products after 13 bits; where that matters, the
// sums of a part of k are added to others by plain f32 additions, which round.

namespace gemmtune {

template <class Mainloop, class Passes>
struct PromotedSums {
  using Sums = typename Mainloop::Sums;

  // Of `tiles` tiles of k; otherwise as Mainloop::run.
  template <class Pipeline, class Issued>
  static __device__ __forceinline__ void run(Sums& sums, const Pipeline& pipeline,
                                             typename Pipeline::Ring& ring,
                                             const typename Pipeline::Place& place, int first_row,
                                             int tiles, Issued issued) {
    if constexpr (Passes::kOverlapsParts) {
      run_overlapped(sums, pipeline, ring, place, first_row, tiles, issued);
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
  // Of parts of one stage: the products of a part are under way while the sums of the one before
  // are added, so that the tensor cores need not wait for that.
  template <class Pipeline, class Issued>
  static __device__ __forceinline__ void run_overlapped(Sums& sums, const Pipeline& pipeline,
                                                        typename Pipeline::Ring& ring,
                                                        const typename Pipeline::Place& place,
                                                        int first_row, int tiles, Issued issued) {
    Sums even;
    Sums odd;
    sums.clear();
    int last = ring.stage;
    const auto go_on = [&](Sums& next, Sums& done) {
      Mainloop::issue(next, pipeline, ring, first_row, false);
      wgmma_wait<1>();
      pipeline.release(last, place);
      sums.add(done);
      last = ring.stage;
      ring.advance();
    };
    const auto end = [&](Sums& done) {
      issued();
      wgmma_wait<0>();
      pipeline.release(last, place);
      sums.add(done);
    };
    Mainloop::issue(even, pipeline, ring, first_row, false);
    ring.advance();
    int tile = 1;
    for (; tile + 1 < tiles; tile += 2) {
      go_on(odd, even);
      go_on(even, odd);
    }
    if (tile < tiles) {
      go_on(odd, even);
      end(odd);
    } else {
      end(even);
    }
  }
};

}  // namespace gemmtune
