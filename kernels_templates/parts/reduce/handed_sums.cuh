#pragma once

#include "parts/ptx/integer_bits.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/gemm_args.h"
#include "parts/shared/tile_config.h"
#include "parts/shared/wgmma_stream_k.h"
#include "parts/shared/wgmma_tiles.h"

// Sums of parts of k that a block's consumers hand to those of another in the workspace, as they
// lie in their registers. A warp beside the consumers, the courier, tells the other block's, and
// waits for it, so that consumers wait for neither memory nor other blocks:
//
//     block 1   consumers  | multiply, leave | multiply ...
//               courier                      | word = there
//     block 0   courier                              | until word is there, word = 0 |
//               consumers  | multiply ...                                            | add, store
//
// A slot of the workspace has one writer and one reader. What the workspace holds before a launch
// does not matter, unless it is kThere by chance, a NaN that no arithmetic makes. Blocks wait for
// blocks of lower numbers only, which were launched before, so that all get on.

namespace gemmtune {

template <TileConfig kTile, class Mainloop>
struct HandedSums {
  using Sums = typename Mainloop::Sums;
  static constexpr WgmmaSumSlots kSlots{kTile};

  const GemmArgs& args;

  // By the consumers: leaves their sums for another block. Once in a launch.
  __device__ __forceinline__ void leave(const Sums& sums, int slot) const {
    float* const to = place(slot);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      FloatVector<4> four;
#pragma unroll
      for (int j = 0; j < 4; ++j) four.v[j] = bits_of_sum(at(sums, i, j));
      store_vector<4>(to + i * kThreads * 4, four);
    }
    asm volatile("bar.arrive %0, %1;" ::"n"(kLeftBarrier), "n"(kThreads + 32) : "memory");
  }

  // Adds those of slots first, first + step, ... to their own, in that order. Once in a launch.
  __device__ __forceinline__ void add(Sums& sums, int first, int step, int count) const {
    asm volatile("bar.sync %0, %1;" ::"n"(kThereBarrier), "n"(kThreads + 32) : "memory");
    for (int slot = 0; slot < count; ++slot) add(sums, place(first + slot * step));
  }

  // By the courier, for each of the calls above.
  __device__ __forceinline__ void tell(int slot) const {
    asm volatile("bar.sync %0, %1;" ::"n"(kLeftBarrier), "n"(kThreads + 32) : "memory");
    if (lane() == 0) {
      asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(word(slot)), "l"(kThere) : "memory");
    }
    __syncwarp();
  }
  __device__ __forceinline__ void await(int first, int step, int count) const {
    for (int slot = lane(); slot < count; slot += 32) {
      unsigned long long* const at = word(first + slot * step);
      unsigned long long seen;
      do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(at) : "memory");
      } while (seen != kThere);
      *at = 0;
    }
    __syncwarp();
    asm volatile("bar.arrive %0, %1;" ::"n"(kThereBarrier), "n"(kThreads + 32) : "memory");
  }

 private:
  static constexpr unsigned long long kThere = 0xFFB5'6D2E'1C93'A74FULL;
  static constexpr int kThreads = kTile.consumers * kWarpgroupThreads;
  static constexpr int kLeftBarrier = 8;  // others have those before
  static constexpr int kThereBarrier = 9;
  static constexpr int kTileVectors = Mainloop::kColumns / 8;  // of a thread and 64 rows
  static constexpr int kVectors = Mainloop::kRowTiles * kTileVectors;
  // Loaded at once, into what registers the sums and others leave.
  static constexpr int kOtherRegisters = 60;
  static constexpr int kRoom =
      (WgmmaRegisters(kTile).of_consumer() - consumer_sums(kTile) - kOtherRegisters) / 4;
  static constexpr int kBatch = kRoom < 2 ? 2 : kRoom < 16 ? kRoom : 16;

  static __device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x) % 32;
  }

  template <class AnySums>
  static __device__ __forceinline__ auto& at(AnySums& sums, int vector, int j) {
    return sums.at[vector / kTileVectors].at[vector % kTileVectors * 4 + j];
  }

  // Of the thread's vectors in a slot, kThreads vectors apart.
  __device__ __forceinline__ float* place(int slot) const {
    return static_cast<float*>(args.workspace) + static_cast<long long>(slot) * kSlots.floats +
           (static_cast<int>(threadIdx.x) - kWarpgroupThreads) * 4;
  }
  __device__ __forceinline__ unsigned long long* word(int slot) const {
    return reinterpret_cast<unsigned long long*>(static_cast<char*>(args.workspace) +
                                                 kSlots.words_offset()) +
           slot;
  }

  static __device__ __forceinline__ void add(Sums& sums, const float* from) {
#pragma unroll
    for (int begin = 0; begin < kVectors; begin += kBatch) {
      FloatVector<4> loaded[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (begin + i < kVectors) loaded[i] = load_vector<4>(from + (begin + i) * kThreads * 4);
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (begin + i < kVectors) add_bits(at(sums, begin + i, j), loaded[i].v[j]);
        }
      }
    }
  }
};

}  // namespace gemmtune
