#pragma once

#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/raster.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"
#include "parts/simt/block_thread_tile.cuh"
#include "parts/simt/single_buffer_mainloop.cuh"

// vectorized: register_cache with accesses of `vector` words (4: 16 bytes) to global and shared
// memory.
//
//     global A, row-major          shared A [tile_k][tile_m + 4]       a thread reads its fragments
//     m                            k                                   from one row of each tile:
//     |  x x x x -> k              |  x . . . -> m
//     v  one 16-byte load          v  x . . .   transposed             a[0..3] a[4..7]
//                                     x . . .   on the way             b[0..3] b[4..7]
//                                     x . . .
//
// Transposed, the thread_m words of A that a thread needs for one k are neighbours and can be read
// as vectors too; the padding spreads the transposing stores over the banks (tile_loader.cuh). The
// same is done to a column-major B. Global accesses are as wide as the problem's alignment allows,
// `vector` at most.
//
// Block and thread tiles as in thread_tile_2d.cuh; shared memory and barriers in
// parts/simt/single_buffer_mainloop.cuh. C is stored in vectors.
//
// Words loaded a multiply-add as in register_cache; instructions 1 / vector of that.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits>
struct Vectorized {
  using Tile = BlockThreadTile<kTile>;
  using Mainloop = SingleBufferMainloop<kTile, kTraits, Tile::kThreads>;

  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kSmemBytes = Mainloop::kSmemBytes;
  static constexpr int kVector = kTile.vector;

  static __device__ __forceinline__ void run(const GemmArgs& args) {
    const auto at =
        tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, static_cast<int>(blockIdx.x));
    const int row = at.row * kTile.tile_m;
    const int column = at.column * kTile.tile_n;
    Tile tile;
    Mainloop::run(args, at.batch, row, column, [&tile](const float* a, const float* b) {
#pragma unroll
      for (int k = 0; k < kTile.tile_k; ++k) {
        float fragment_a[Tile::kM];
        float fragment_b[Tile::kN];
        read(fragment_a, a + k * Mainloop::kStrideA + tile.row);
        read(fragment_b, b + k * Mainloop::kStrideB + tile.column);
        tile.multiply(fragment_a, fragment_b);
      }
    });
    tile.template store<access_width(kTile, kTraits.vector_c)>(
        ResultWriter<kTraits.epilogue>::of(args, at.batch), row, column);
  }

 private:
  template <int kCount>
  static __device__ __forceinline__ void read(float (&fragment)[kCount], const float* from) {
#pragma unroll
    for (int i = 0; i < kCount; i += kVector) {
      const auto x = load_vector<kVector>(from + i);
#pragma unroll
      for (int v = 0; v < kVector; ++v) fragment[i + v] = x.v[v];
    }
  }
};

}  // namespace gemmtune
