#pragma once

#include "parts/mma/mma_fragments.cuh"
#include "parts/mma/mma_products.cuh"
#include "parts/mma/mma_tile_loader.cuh"
#include "parts/mma/register_staged_loader.cuh"
#include "parts/ptx/cp_async.cuh"
#include "parts/ptx/thread_group.cuh"
#include "parts/shared/element_sizes.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/mma_tiles.h"
#include "parts/shared/thread_tiles.h"
#include "parts/shared/tile_config.h"

// The main loop of the tensor-core kernels: adds the product of a range of k tiles to the warps'
// sums. Group is the threads that share a tile and a pipeline: all of a block, or one of its groups
// (thread_group.cuh).
//
// Shared memory, kTile.stages times (buffer t % stages holds the t-th k tile of the range): A's
// tile, then B's, each in its operand's storage order and swizzled.
//
// Time of a k tile with four k steps; L = ldmatrix, x = mma, c = copies of tile t + stages - 1:
//
//     fragments = 2      step      0      1      2      3
//                        copies    c      c      c
//                        L         1      2      3    | 0 of tile t + 1
//                        x         0      1      2    | 3
//                                                     wait and barrier
//     fragments = 1      L x of each step; wait and barrier before step 0
//
// After the barrier tile t + 1 has landed, and nobody reads buffer t % stages any more: the copies
// that follow it overwrite that one.
//
// Before sm_80 copies pass through registers (register_staged_loader.cuh): loads where the first
// copies stand, stores where they are waited for. With two stages these go to the buffer that was
// read before the last barrier.

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes,
          class Group = ThreadGroup<warp_tile_threads(kTile)>>
struct MmaMainloop {
  static constexpr int kWarpsN = kTile.tile_n / kTile.warp_n;
  static constexpr int kThreads = Group::kThreads;
  static constexpr int kStages = kTile.stages;
  static constexpr int kElementBytes = size_bytes(kTypes.operand);
  // mmas of a step that follow one another in k. Of 3xtf32 their sum is added at once: each saves a
  // warp's additions, and costs another set of fragments.
  static constexpr int kMmas = mmas_of_step(kTile);
  static constexpr int kSteps = kTile.tile_k * kElementBytes / (kMmaStepBytes * kMmas);
  static constexpr int kBytesA = mma_tile_bytes_a(kTile, kElementBytes);
  static constexpr int kBufferBytes = mma_buffer_bytes(kTile, kElementBytes);
  static constexpr int kSmemBytes = kStages * kBufferBytes;
  static_assert(kBytesA % kMmaBufferAlignment == 0 && kBufferBytes % kMmaBufferAlignment == 0);
  static constexpr bool kTwoFragments = kTile.fragments == 2;
  static constexpr int kCopyParts = kTwoFragments ? kSteps - 1 : kSteps;
  static_assert(!kTwoFragments || kSteps % 2 == 0, "two fragment buffers take turns over a tile");

  static constexpr int kRowTiles = kTile.warp_m / 16;
  static constexpr int kColumnTiles = kTile.warp_n / 8;
  using Sums = MmaSums<kTypes.accumulator>[kRowTiles][kColumnTiles];

  static constexpr bool kContiguousKA = kTraits.a_row_major;
  static constexpr bool kContiguousKB = !kTraits.b_row_major;
  using Rows = MmaRows<kElementBytes == 4 && !kContiguousKA>;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  static constexpr bool kAsync = false;
  static_assert(kTile.copy == kCopyRegisters, "there is no cp.async before sm_80");
  static_assert(kStages == 2 && kElementBytes == 2, "one tile of f16 is on its way");
  using LoaderA =
      RegisterStagedLoader<kTile.tile_m, kTile.tile_k, kThreads, kTraits.vector_a, kContiguousKA>;
  using LoaderB =
      RegisterStagedLoader<kTile.tile_n, kTile.tile_k, kThreads, kTraits.vector_b, kContiguousKB>;
#else
  static constexpr bool kAsync = true;
  static_assert(kTile.copy == kCopyAsync, "from sm_80 on copies bypass the registers");
  using LoaderA = MmaTileLoader<kTile.tile_m, kTile.tile_k, kThreads, kTraits.vector_a,
                                kContiguousKA, kElementBytes, false>;
  using LoaderB = MmaTileLoader<kTile.tile_n, kTile.tile_k, kThreads, kTraits.vector_b,
                                kContiguousKB, kElementBytes, kTraits.b_read_once>;
#endif
  using ReaderA = MmaFragmentReader<kTile.tile_m, kTile.tile_k, kTile.warp_m, true, kContiguousKA,
                                    kElementBytes>;
  using ReaderB = MmaFragmentReader<kTile.tile_n, kTile.tile_k, kTile.warp_n, false, kContiguousKB,
                                    kElementBytes>;

  static __device__ __forceinline__ int warp_row() {
    return Group::thread() / 32 / kWarpsN * kTile.warp_m;
  }
  static __device__ __forceinline__ int warp_column() {
    return Group::thread() / 32 % kWarpsN * kTile.warp_n;
  }

  // The group's tile is at (row, column) of C, in elements; the range is [k_begin, k_end), k_begin
  // a multiple of tile_k, and not empty. On return every copy has landed and nobody reads shared
  // memory any more.
  static __device__ __forceinline__ void run(Sums& sums, unsigned smem, const GemmArgs& args,
                                             int batch, int row, int column, int k_begin,
                                             int k_end) {
    const char* a =
        first_element(args.a, batch * args.stride_a, kContiguousKA ? k_begin : k_begin * args.lda);
    const char* b =
        first_element(args.b, batch * args.stride_b, kContiguousKB ? k_begin : k_begin * args.ldb);
    MmaMainloop loop(smem, k_end - k_begin, LoaderA(a, args.lda, row, args.m, Group::thread()),
                     LoaderB(b, args.ldb, column, args.n, Group::thread()));
    loop.fill_pipeline();
    if constexpr (kTwoFragments) {
      loop.multiply_ahead(sums);
    } else {
      loop.multiply(sums);
    }
    loop.template wait_for_copies<0>();
    Group::sync();
  }

 private:
  // Of the k range: offsets in elements.
  static __device__ __forceinline__ const char* first_element(const void* operand, long long batch,
                                                              long long k) {
    return static_cast<const char*>(operand) + (batch + k) * kElementBytes;
  }

  struct Fragments {
    MmaFragment<kTile.warp_m> a[kMmas];
    MmaFragment<kTile.warp_n> b[kMmas];
  };

  __device__ __forceinline__ MmaMainloop(unsigned smem, int depth, const LoaderA& load_a,
                                         const LoaderB& load_b)
      : load_a_(load_a),
        load_b_(load_b),
        read_a_(warp_row()),
        read_b_(warp_column()),
        smem_(smem),
        reading_(smem),
        writing_(smem),
        k_left_(depth),
        tiles_((depth + kTile.tile_k - 1) / kTile.tile_k) {}

  __device__ __forceinline__ unsigned next_buffer(unsigned buffer) const {
    return buffer == smem_ + (kStages - 1) * kBufferBytes ? smem_ : buffer + kBufferBytes;
  }

  // Copies part kPart of the next tile, if there is one; the last part closes the tile's group.
  // Empty groups keep the count that wait_group relies on.
  template <int kPart, int kParts>
  __device__ __forceinline__ void copy_part() {
    if (k_left_ > 0) {
      load_a_.template copy_part<kPart, kParts>(writing_, k_left_);
      load_b_.template copy_part<kPart, kParts>(writing_ + kBytesA, k_left_);
    }
    if constexpr (kPart == kParts - 1) {
      if constexpr (kAsync) cp_async_commit();
      writing_ = next_buffer(writing_);
      k_left_ -= kTile.tile_k;
    }
  }

  // Until at most kPending tiles are on their way.
  template <int kPending>
  __device__ __forceinline__ void wait_for_copies() {
    if constexpr (kAsync) {
      cp_async_wait<kPending>();
    } else {
      load_a_.land();
      load_b_.land();
    }
  }

  __device__ __forceinline__ void fill_pipeline() {
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) copy_part<0, 1>();
  }

  __device__ __forceinline__ void read(Fragments& to, int step) const {
#pragma unroll
    for (int h = 0; h < kMmas; ++h) {
      read_a_.read(to.a[h], reading_, step * kMmas + h);
      read_b_.read(to.b[h], reading_ + kBytesA, step * kMmas + h);
    }
  }

  __device__ __forceinline__ void multiply(Sums& sums) {
    Fragments now;
    for (int t = 0; t < tiles_; ++t) {
      wait_for_copies<kStages - 2>();
      Group::sync();
      multiply_steps<0>(sums, now);
      reading_ = next_buffer(reading_);
    }
  }

  // Steps kStep and further of a tile.
  template <int kStep>
  __device__ __forceinline__ void multiply_steps(Sums& sums, Fragments& now) {
    read(now, kStep);
    copy_part<kStep, kCopyParts>();
    multiply_step(sums, now);
    if constexpr (kStep + 1 < kSteps) multiply_steps<kStep + 1>(sums, now);
  }

  __device__ __forceinline__ void multiply_ahead(Sums& sums) {
    Fragments fragments[2];
    wait_for_copies<kStages - 2>();
    Group::sync();
    read(fragments[0], 0);
    for (int t = 0; t < tiles_; ++t) multiply_steps_ahead<0>(sums, fragments, t + 1 < tiles_);
  }

  // Steps kStep and further of a tile, each with the fragments of the next; `another`: whether
  // there is another tile.
  template <int kStep>
  __device__ __forceinline__ void multiply_steps_ahead(Sums& sums, Fragments (&fragments)[2],
                                                       bool another) {
    if constexpr (kStep < kSteps - 1) {
      read(fragments[(kStep + 1) % 2], kStep + 1);
      copy_part<kStep, kCopyParts>();
      multiply_step(sums, fragments[kStep % 2]);
      multiply_steps_ahead<kStep + 1>(sums, fragments, another);
    } else {
      if (another) {
        wait_for_copies<kStages - 2>();
        Group::sync();
        reading_ = next_buffer(reading_);
        read(fragments[0], 0);
      }
      multiply_step(sums, fragments[kStep % 2]);
    }
  }

  // The order decides which operand the next mma shares with the last.
  static __device__ __forceinline__ void multiply_step(Sums& sums, const Fragments& f) {
    const MmaOperand<kTypes.products, kMmas, kTile.warp_m> a(f.a);
    const MmaOperand<kTypes.products, kMmas, kTile.warp_n> b(f.b);
    if constexpr (kTile.order == kOrderSerpentineM) {
#pragma unroll
      for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
        for (int i = 0; i < kRowTiles; ++i) {
          const int row = j % 2 == 0 ? i : kRowTiles - 1 - i;
          multiply_tile<kTypes>(sums[row][j], a, row, b, j);
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
          const bool back = kTile.order == kOrderSerpentineN && i % 2 == 1;
          const int column = back ? kColumnTiles - 1 - j : j;
          multiply_tile<kTypes>(sums[i][column], a, i, b, column);
        }
      }
    }
  }

  LoaderA load_a_;
  LoaderB load_b_;
  ReaderA read_a_;
  ReaderB read_b_;
  unsigned smem_;     // the first buffer
  unsigned reading_;  // the buffer that is multiplied
  unsigned writing_;  // the buffer that the next copies go to
  int k_left_;        // values of k that no copy has been started for
  int tiles_;
};

}  // namespace gemmtune
