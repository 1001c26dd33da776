#pragma once

#include "parts/mma/half_register_loader.cuh"
#include "parts/mma/padded_rows.cuh"
#include "parts/ptx/wmma.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/mma_tiles.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"

// The main loop of the wmma kernel: adds the product of a range of k tiles to the warps' sums.
//
// Shared memory, twice (buffer t % 2 holds the t-th k tile of the range): A's tile, then B's, each
// in its operand's storage order, a line of it in a padded row (padded_rows.cuh).
//
// Time, a k tile: global loads of tile t + 1 into registers | products of tile t from shared memory
// | registers into the other buffer | one barrier. Two buffers make one barrier a tile enough: a
// buffer is written only after the barrier behind which nobody reads it any more.

namespace gemmtune {

// One of the two tiles of a buffer, and how wmma finds its 16 x 16 subtiles.
template <int kTileMn, int kTileK, bool kContiguousK>
struct WmmaTile {
  static constexpr int kLine = kContiguousK ? kTileK : kTileMn;  // elements
  using Rows = PaddedRows<kLine / 8>;
  static constexpr int kLd = Rows::kRowBytes / 2;  // elements
  static constexpr int kBytes = wmma_tile_bytes(kTileMn, kTileK, kContiguousK);

  // Of the subtile from (mn, k) on, multiples of 16; in bytes.
  static __device__ __forceinline__ int offset(int mn, int k) {
    return kContiguousK ? Rows::offset(mn, k / 8) : Rows::offset(k, mn / 8);
  }
};

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes>
struct WmmaMainloop {
  static constexpr int kWarpsN = kTile.tile_n / kTile.warp_n;
  static constexpr int kThreads = warp_tile_threads(kTile);

  using TileA = WmmaTile<kTile.tile_m, kTile.tile_k, kTraits.a_row_major>;
  using TileB = WmmaTile<kTile.tile_n, kTile.tile_k, !kTraits.b_row_major>;
  static constexpr int kBufferBytes = TileA::kBytes + TileB::kBytes;
  static constexpr int kSmemBytes = 2 * kBufferBytes;

  static constexpr int kRowTiles = kTile.warp_m / 16;
  static constexpr int kColumnTiles = kTile.warp_n / 16;
  using Sums = wmma::Accumulator<kTypes.accumulator>[kRowTiles][kColumnTiles];

  static constexpr int kVectorA =
      shared_out_vector(kTile.tile_m * kTile.tile_k, kThreads, kTraits.vector_a);
  static constexpr int kVectorB =
      shared_out_vector(kTile.tile_n * kTile.tile_k, kThreads, kTraits.vector_b);
  using LoaderA = HalfRegisterLoader<kTypes.operand, kTile.tile_m, kTile.tile_k, kThreads, kVectorA,
                                     kTraits.a_row_major, typename TileA::Rows>;
  using LoaderB = HalfRegisterLoader<kTypes.operand, kTile.tile_n, kTile.tile_k, kThreads, kVectorB,
                                     !kTraits.b_row_major, typename TileB::Rows>;

  static __device__ __forceinline__ int warp_row() {
    return static_cast<int>(threadIdx.x) / 32 / kWarpsN * kTile.warp_m;
  }
  static __device__ __forceinline__ int warp_column() {
    return static_cast<int>(threadIdx.x) / 32 % kWarpsN * kTile.warp_n;
  }

  // The block's tile is at (row, column) of C, in elements; the range is [k_begin, k_end), k_begin
  // a multiple of tile_k, and not empty. On return nobody reads shared memory any more.
  static __device__ __forceinline__ void run(Sums& sums, unsigned smem, const GemmArgs& args,
                                             int batch, int row, int column, int k_begin,
                                             int k_end) {
    const auto* a = static_cast<const Element*>(args.a) + batch * args.stride_a +
                    (kTraits.a_row_major ? k_begin : k_begin * args.lda);
    const auto* b = static_cast<const Element*>(args.b) + batch * args.stride_b +
                    (kTraits.b_row_major ? k_begin * args.ldb : k_begin);
    LoaderA load_a(reinterpret_cast<const char*>(a), args.lda, row, args.m);
    LoaderB load_b(reinterpret_cast<const char*>(b), args.ldb, column, args.n);
    int k_left = k_end - k_begin;
    load_a.fetch(k_left);
    load_b.fetch(k_left);
    load_a.store(smem);
    load_b.store(smem + TileA::kBytes);
    __syncthreads();

    const int own_a = TileA::offset(warp_row(), 0);
    const int own_b = TileA::kBytes + TileB::offset(warp_column(), 0);
    unsigned buffer = smem;
    while (true) {
      k_left -= kTile.tile_k;
      const bool more = k_left > 0;
      if (more) {
        load_a.fetch(k_left);
        load_b.fetch(k_left);
      }
      multiply(sums, buffer + own_a, buffer + own_b);
      buffer = buffer == smem ? smem + kBufferBytes : smem;
      if (more) {
        load_a.store(buffer);
        load_b.store(buffer + TileA::kBytes);
      }
      __syncthreads();
      if (!more) return;
    }
  }

 private:
  using Element = typename StoredElement<kTypes.operand>::Type;
  static constexpr ElementType kShared = kTypes.operand == kF32 ? kF16 : kTypes.operand;
  using FragmentA = wmma::Fragment<wmma::kMatrixA, kShared, kTraits.a_row_major>;
  using FragmentB = wmma::Fragment<wmma::kMatrixB, kShared, kTraits.b_row_major>;

  // The product of two tiles; `a` and `b` are the shared addresses of the warp's part of them.
  static __device__ __forceinline__ void multiply(Sums& sums, unsigned a, unsigned b) {
#pragma unroll
    for (int k = 0; k < kTile.tile_k; k += 16) {
      FragmentA rows[kRowTiles];
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        wmma::load_matrix_sync(rows[i], a + TileA::offset(i * 16, k), TileA::kLd);
      }
#pragma unroll
      for (int j = 0; j < kColumnTiles; ++j) {
        FragmentB column;
        wmma::load_matrix_sync(column, b + TileB::offset(j * 16, k), TileB::kLd);
#pragma unroll
        for (int i = 0; i < kRowTiles; ++i) wmma::mma_sync(sums[i][j], rows[i], column);
      }
    }
  }
};

}  // namespace gemmtune
