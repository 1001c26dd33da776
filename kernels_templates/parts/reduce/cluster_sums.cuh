#pragma once

#include "parts/epilogue/exact_product.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/cluster_store.cuh"
#include "parts/ptx/mbarrier.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/reduce/partial_tile.cuh"
#include "parts/reduce/reduction.cuh"
#include "parts/shared/cluster_sums.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/tile_config.h"

// Slices of k that are added up in the shared memory of a cluster. A block stores its sums where
// they are added up, as they leave its registers; a barrier there counts them. So nothing waits for
// a barrier of the cluster that releases what was written, which takes a fence of the whole device,
// nor reads from another block.
//
//     block 0: rows 0..        own sums | those of block 1 | those of block 2 ..
//     block 1: rows `rows`..   own sums | those of block 0 | those of block 2 ..

namespace gemmtune {

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, class Mainloop>
struct WgmmaClusterSums {
  static constexpr ClusterSums kPart{kTile};
  static constexpr int kSlotFloats = kPart.slot_floats();
  static constexpr int kVector = kPartialVector;
  using Tile = PartialTile<kTile, kMmaPartialPadding>;
  using Slots = SlotSum<kTile, kTraits, kTypes, Tile>;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;

  float* own;     // of this block, once no stage is read any more
  float* others;  // a slot for each other block
  int block;      // the rank

  // By one thread, before the block's threads meet and arrive at the cluster's barrier.
  __device__ __forceinline__ void begin() const {
    mbarrier_init(barrier(), 1);
    mbarrier_init_fence();
    mbarrier_arrive_expect(barrier(), (kTile.slices - 1) * rows() * kTile.tile_n * 4);
  }

  // By a consumer's warp: stores its sums, from row `first` of wgmma's result on, where they are
  // added up.
  __device__ __forceinline__ void share_out(const typename Mainloop::Sums& all, int first) const {
    cluster_wait();
    for_each_vector(all, first, [&](int to, int offset, const FloatVector<4>& sums, int count) {
      if (to == block) return;
      const unsigned at = address_in_block(shared_address(slot_of(block, to) + offset), to);
      const unsigned barrier_there = address_in_block(barrier(), to);
      if (count == 4) {
        store_in_block(at, sums, barrier_there);
      } else {
        store_in_block(at, first_two(sums), barrier_there);
      }
    });
    // Other warps may still read the last stage, whose place the block's own sums take.
    asm volatile("bar.sync 1, %0;" ::"n"(kTile.consumers * kWarpgroupThreads) : "memory");
    for_each_vector(all, first, [&](int to, int offset, const FloatVector<4>& sums, int count) {
      if (to != block) return;
      if (count == 4) {
        store_vector(own + offset, sums);
      } else {
        store_vector(own + offset, first_two(sums));
      }
    });
  }

  // By all threads, once the block's own sums are stored: adds up the block's rows of the tile, in
  // the order of the slices.
  template <int kThreads>
  __device__ __forceinline__ void add_up(const GemmArgs& args, const Tile& tile, int batch) const {
    constexpr int kAcross = Tile::kRowVectors;
    constexpr int kRowsAtOnce = kThreads / kAcross;
    static_assert(kRowsAtOnce > 0, "a thread for each vector of a row");
    const int column = static_cast<int>(threadIdx.x) % kAcross;
    const int first = static_cast<int>(threadIdx.x) / kAcross;
    if (first >= kRowsAtOnce || first >= rows()) return;
    const auto writer = Writer::of(args, batch);
    const auto bias = Slots::bias(writer, tile, column);
    await_stores(barrier(), 0);
    for (int row = first; row < rows(); row += kRowsAtOnce) {
      const auto sum = sum_of<kTypes.accumulator, kTile.slices>([&](int from) {
        return load(from == block ? own : slot_of(from, block), row, column * kVector);
      });
      const int v = (block * kPart.rows + row) * kAcross + column;
      Slots::store(sum, writer, tile, batch, v, bias);
    }
  }

 private:
  __device__ __forceinline__ unsigned barrier() const {
    return shared_address(others + (kTile.slices - 1) * kSlotFloats);
  }
  __device__ __forceinline__ int rows() const { return kPart.rows_of(block); }

  // That block `to` has for those of block `from`, as this block would have it.
  __device__ __forceinline__ float* slot_of(int from, int to) const {
    return others + (from < to ? from : from - 1) * kSlotFloats;
  }

  // Four neighbouring columns of a row of the part.
  static __device__ __forceinline__ FloatVector<kVector> load(const float* slot, int row,
                                                              int column) {
    FloatVector<kVector> sums;
    if constexpr (Mainloop::kExchanged) {
      const float* from = slot + row / 2 * 4 + row % 2 + column % 16 / 8 * 2;
#pragma unroll
      for (int i = 0; i < kVector; ++i)
        sums.v[i] = from[(column / 16 * 8 + column % 8 + i) * kPart.stride];
    } else {
      // Behind the last whole 16 columns are 8 in order.
      const bool in_order = kTile.tile_n % 16 != 0 && column >= kTile.tile_n / 16 * 16;
      const float* from =
          slot + row * kPart.stride +
          (in_order ? column : column / 16 * 16 + column % 8 * 2 + column % 16 / 8 * 2);
      const auto low = load_vector<2>(from);
      const auto high = load_vector<2>(from + (in_order ? 2 : 4));
      sums = {low.v[0], low.v[1], high.v[0], high.v[1]};
    }
    return sums;
  }

  static __device__ __forceinline__ FloatVector<2> first_two(const FloatVector<4>& x) {
    return {x.v[0], x.v[1]};
  }

  // use(block that adds them up, offset in a slot, sums, how many of them: 4 or 2)
  template <class Use>
  static __device__ __forceinline__ void for_each_vector(const typename Mainloop::Sums& sums,
                                                         int first, Use use) {
    const int line = static_cast<int>(threadIdx.x) % 32 / 4;
    const int place = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int i = 0; i < Mainloop::kRowTiles; ++i) {
      const auto& at = sums.at[i];
      const int row = first + i * kWgmmaRows;
      if constexpr (Mainloop::kExchanged) {
#pragma unroll
        for (int j = 0; j < Mainloop::kColumns; j += 8) {
          const int to = j / kPart.rows;
          const FloatVector<4> vector = {at.get(j, 0, 0), at.get(j, 0, 1), at.get(j, 1, 0),
                                         at.get(j, 1, 1)};
          use(to, (row / 2 + line) * kPart.stride + (j - to * kPart.rows) * 2 + place * 4, vector,
              4);
        }
      } else {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int to = (row + half * 8) / kPart.rows;
          const int offset = (row + half * 8 - to * kPart.rows + line) * kPart.stride;
#pragma unroll
          for (int j = 0; j + 16 <= Mainloop::kColumns; j += 16) {
            const FloatVector<4> vector = {at.get(j, half, 0), at.get(j, half, 1),
                                           at.get(j + 8, half, 0), at.get(j + 8, half, 1)};
            use(to, offset + j + place * 4, vector, 4);
          }
          if constexpr (Mainloop::kColumns % 16 != 0) {
            constexpr int j = Mainloop::kColumns - 8;
            const FloatVector<4> vector = {at.get(j, half, 0), at.get(j, half, 1)};
            use(to, offset + j + place * 2, vector, 2);
          }
        }
      }
    }
  }
};

}  // namespace gemmtune
