#pragma once

#include "parts/ptx/thread_group.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/async_tile_loader.cuh"
#include "parts/simt/thread_tile.cuh"
#include "parts/simt/tile_fragments.cuh"

// The main loop of the cp.async pipelines: adds the product of a range of k tiles to a thread tile.
//
// Shared memory, kTile.stages times, or twice if that is 0 (buffer t % stages holds the t-th k tile
// of the range):
//     A tile [tile_k][tile_m + pad]    B tile [tile_k][tile_n + pad]
// An operand that is contiguous along k is transposed by the copies themselves (4 bytes each).
//
// Time, with 3 stages; c = copy in flight, x = multiply:
//
//     tile 0   c c x
//     tile 1     c c x
//     tile 2       c c x
//              ------------> one barrier a tile
//
// At the top of iteration t the copies of tile t have landed (wait_group) and every thread is past
// iteration t - 1 (the barrier), so buffer (t - 1) % stages may be overwritten: that is where tile
// t + stages - 1 goes. No data passes through registers on its way to shared memory. Where
// kTile.ahead is set, the barrier of the next tile comes before the last step of this one.

namespace gemmtune {

// `Group` are the threads that do it (thread_group.cuh).
template <TileConfig kTile, KernelTraits kTraits,
          class Group = ThreadGroup<warp_tile_threads(kTile)>>
struct MultistageMainloop {
  using Tile = ThreadTile<kTile>;
  static constexpr int kStrideA = row_floats_a(kTile, kTraits);
  static constexpr int kStrideB = row_floats_b(kTile, kTraits);
  using LoaderA = AsyncTileLoader<kTile.tile_m, kTile.tile_k, Group,
                                  async_access_width(kTraits.a_row_major, kTraits.vector_a),
                                  kTraits.a_row_major, kStrideA>;
  using LoaderB = AsyncTileLoader<kTile.tile_n, kTile.tile_k, Group,
                                  async_access_width(!kTraits.b_row_major, kTraits.vector_b),
                                  !kTraits.b_row_major, kStrideB>;

  static constexpr int kStages = kTile.stages > 2 ? kTile.stages : 2;
  static constexpr int kThreads = Group::kThreads;
  static constexpr int kBufferA = kTile.tile_k * kStrideA;
  static constexpr int kBuffer = buffer_floats(kTile, kTraits);
  static constexpr int kFloats = kStages * kBuffer;
  static constexpr int kSmemBytes = kFloats * 4;

  // The group's tile is at (row, column) of C, in elements; the range is [k_begin, k_end), k_begin
  // a multiple of tile_k, and not empty. On return copies are finished, but other threads may still
  // read shared memory.
  static __device__ __forceinline__ void run(Tile& tile, float* smem, const GemmArgs& args,
                                             int batch, int row, int column, int k_begin,
                                             int k_end) {
    const float* a = static_cast<const float*>(args.a) + batch * args.stride_a +
                     (kTraits.a_row_major ? k_begin : k_begin * args.lda);
    const float* b = static_cast<const float*>(args.b) + batch * args.stride_b +
                     (kTraits.b_row_major ? k_begin * args.ldb : k_begin);
    LoaderA load_a(a, args.lda, row, args.m);
    LoaderB load_b(b, args.ldb, column, args.n);

    const int tiles_k = (k_end - k_begin + kTile.tile_k - 1) / kTile.tile_k;
    const int first_depth = k_end - k_begin - (tiles_k - 1) * kTile.tile_k;
    load_a.copy_first(smem, first_depth);
    load_b.copy_first(smem + kBufferA, first_depth);
    cp_async_commit();
#pragma unroll
    for (int s = 1; s < kStages - 1; ++s) {
      load_a.copy_part(smem + s * kBuffer, 0, 1, s < tiles_k);
      load_b.copy_part(smem + s * kBuffer + kBufferA, 0, 1, s < tiles_k);
      cp_async_commit();
    }

    if constexpr (kTile.ahead != 0) {
      multiply_ahead(tile, smem, load_a, load_b, tiles_k);
    } else {
      multiply_each(tile, smem, load_a, load_b, tiles_k);
    }
    cp_async_wait<0>();  // for the zeros past the end: the caller may use shared memory for itself
  }

 private:
  // The buffers in turn.
  struct Ring {
    float* first;
    float* reading = first;
    float* writing = first + (kStages - 1) * kBuffer;

    __device__ __forceinline__ void advance() {
      writing = reading;
      reading = reading == first + (kStages - 1) * kBuffer ? first : reading + kBuffer;
    }
  };

  // Each tile's fragments are read behind its barrier.
  static __device__ __forceinline__ void multiply_each(Tile& tile, float* smem, LoaderA& load_a,
                                                       LoaderB& load_b, int tiles_k) {
    Ring ring{smem};
    for (int t = 0; t < tiles_k; ++t) {
      cp_async_wait<kStages - 2>();
      Group::sync();
      if (t + kStages - 1 < tiles_k) {
        load_a.copy_next(ring.writing);
        load_b.copy_next(ring.writing + kBufferA);
      }
      cp_async_commit();
      multiply_tile<kTile, kStrideA, kStrideB>(tile, ring.reading, ring.reading + kBufferA);
      ring.advance();
    }
  }

  // The fragments of both operands, read from the buffer at `buffer`.
  struct Fragments {
    struct OffsetsM {
      static __device__ __forceinline__ constexpr int of(int i) { return Tile::row_offset(i); }
    };
    struct OffsetsN {
      static __device__ __forceinline__ constexpr int of(int j) { return Tile::column_offset(j); }
    };
    TileFragments<Tile::kM, kStrideA, OffsetsM> a;
    TileFragments<Tile::kN, kStrideB, OffsetsN> b;
    int first_a;  // where the thread's first element lies
    int first_b;

    __device__ __forceinline__ explicit Fragments(const Tile& tile)
        : first_a(tile.row), first_b(tile.column) {}

    __device__ __forceinline__ void read(const float* buffer, int k) {
      a.read(buffer, first_a, k);
      b.read(buffer + kBufferA, first_b, k);
    }
    __device__ __forceinline__ void multiply(Tile& tile, int k) const {
      typename Tile::Fragments step;
#pragma unroll
      for (int i = 0; i < Tile::kM; ++i) step.a[i] = a.value(i, k);
#pragma unroll
      for (int j = 0; j < Tile::kN; ++j) step.b[j] = b.value(j, k);
      tile.multiply(step);
    }
  };

  // The barrier of the next tile and the reads of its first fragments come before the last
  // multiplications of this one, which hide them, and the copies go out in kTile.ahead bursts
  // between the others. No branch keeps the compiler from mixing them: past the end zeros are
  // copied, and read for nothing.
  //
  //     read    k=1  k=2 ..  k=last | next tile: k=0  k=1
  //     multiply     k=1 ..         | k=last          k=0
  //                             barrier
  static __device__ __forceinline__ void multiply_ahead(Tile& tile, float* smem, LoaderA& load_a,
                                                        LoaderB& load_b, int tiles_k) {
    static_assert(kTile.tile_k % 2 == 0, "a tile begins with the first of the two fragments");
    constexpr int kBursts = kTile.ahead;      // the compiler puts three idle slots before each
    constexpr int kSteps = kTile.tile_k - 1;  // before the barrier
    Ring ring{smem};
    Fragments fragments(tile);
    cp_async_wait<kStages - 2>();
    Group::sync();
    fragments.read(ring.reading, 0);
    for (int t = 0; t < tiles_k; ++t) {
      const bool exists = t + kStages - 1 < tiles_k;
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        fragments.read(ring.reading, k + 1);
        if (k % (kTile.tile_k / kBursts) == 0) {
          const int burst = k / (kTile.tile_k / kBursts);
          load_a.copy_part(ring.writing, burst, kBursts, exists);
          load_b.copy_part(ring.writing + kBufferA, burst, kBursts, exists);
        }
        fragments.multiply(tile, k);
      }
      cp_async_commit();
      cp_async_wait<kStages - 2>();
      Group::sync();
      ring.advance();
      fragments.read(ring.reading, 0);
      fragments.multiply(tile, kSteps);
    }
  }
};

}  // namespace gemmtune
