#pragma once

#include "parts/epilogue/exact_product.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/ptx/cluster.cuh"
#include "parts/ptx/integer_bits.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/element_types.h"
#include "parts/shared/gemm_args.h"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/partial_tiles.h"
#include "parts/shared/raster.h"
#include "parts/shared/tile_config.h"

// The one place where sums over parts of k become sums over all of it. kTile.groups groups of a
// block's warps, and kTile.slices blocks, share out the k of a tile of C:
//
//     groups      leave their tiles in shared memory, where the block's threads add them
//
//     slices, as kTile.reduction says:
//     workspace   Each block stores its tile in a slot of the workspace; a second kernel, finish(),
//                 adds up a tile's slots.
//     cluster     The slices of a tile are one cluster (sm_90 and up): after a cluster barrier each
//                 block adds a part of the tile over the shared memory of all. One launch, no
//                 workspace.
//     atomic      prepare() first stores beta * C + bias; then every block adds alpha * its sums by
//                 red.add. Results may differ in the last bits from run to run; the other ways
//                 always add in the same order.
//
// Tile is PartialTile, or another class that says where in shared memory and in C the vectors of a
// tile are.

namespace gemmtune {

template <ElementType kSum, int kVector>
__device__ __forceinline__ void add_to(FloatVector<kVector>& sum, const FloatVector<kVector>& x) {
#pragma unroll
  for (int i = 0; i < kVector; ++i) {
    if constexpr (kSum == kI32) {
      sum.v[i] = integer_sum(sum.v[i], x.v[i]);
    } else {
      sum.v[i] += x.v[i];
    }
  }
}

// load(0) + load(1) + ... in that order.
template <ElementType kSum, int kCount, class Load>
__device__ __forceinline__ auto sum_of(Load load) {
  auto sum = load(0);
#pragma unroll
  for (int i = 1; i < kCount; ++i) add_to<kSum>(sum, load(i));
  return sum;
}

// The slots of the workspace.
template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, class Tile>
struct SlotSum {
  static constexpr int kVector = Tile::kVector;
  static constexpr int kSlotFloats = slot_floats(kTile);
  static constexpr int kThreads = kFinishThreads;

  static __device__ __forceinline__ float* slot(const GemmArgs& args, int index) {
    return static_cast<float*>(args.workspace) + static_cast<long long>(index) * kSlotFloats;
  }

  // What store() needs of the columns of vector v; those above and below it have the same.
  template <class Writer>
  static __device__ __forceinline__ auto bias(const Writer& writer, const Tile& tile, int v) {
    return writer.template column_biases<kTraits.vector_c, kVector>(tile.n(v));
  }

  // Stores the sums over all of k of vector v, as far as C has it.
  template <class Writer, class Bias>
  static __device__ __forceinline__ void store(const FloatVector<kVector>& sum,
                                               const Writer& writer, const Tile& tile, int batch,
                                               int v, const Bias& bias) {
    const int m = tile.m(v);
    if (m >= writer.args.m) return;
    writer.template store_row<kTraits.vector_c>(sum, m, tile.n(v), bias,
                                                correction<kTraits, kTypes>(writer.args, batch));
  }

  // Adds up a tile's slots; slot_of(i) is the i-th of `slots`. A block does subtile `subtile` of
  // it; `ways` groups of its threads take the slots in turn, kAtOnce at a time, and their sums are
  // added in order:
  //
  //     ways = 4:   threads 0-63  slots 0 4 8 ..  |  threads 64-127  slots 1 5 9 ..  |  ...
  //
  template <int kAtOnce, class SlotOf>
  static __device__ __forceinline__ void run(const GemmArgs& args, const TileCoordinates& at,
                                             int subtile, int ways, int slots, SlotOf slot_of) {
    __shared__ __align__(16) float sums[kThreads * kVector];
    const Tile tile = Tile::of(args, at);
    const int thread = static_cast<int>(threadIdx.x);
    const int vectors = kThreads / ways;
    const int way = thread / vectors;
    const int v = subtile * vectors + thread % vectors;
    const bool inside = v < Tile::kVectors && tile.m(v) < args.m && tile.n(v) < args.n;
    const auto writer = ResultWriter<kTraits.epilogue, kTypes.result>::of(args, at.batch);
    const auto of_columns = bias(writer, tile, v);
    FloatVector<kVector> sum = {};
    for (int i = way; i < slots; i += kAtOnce * ways) {
      FloatVector<kVector> loaded[kAtOnce] = {};
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int s = i + j * ways;
        if (inside && s < slots) {
          loaded[j] = load_vector<kVector>(slot(args, slot_of(s)) + kVector * v);
        }
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) add_to<kTypes.accumulator>(sum, loaded[j]);
    }
    if (ways > 1) {
      store_vector<kVector>(sums + kVector * thread, sum);
      __syncthreads();
      if (way > 0) return;
      for (int w = 1; w < ways; ++w) {
        add_to<kTypes.accumulator>(sum,
                                   load_vector<kVector>(sums + kVector * (w * vectors + thread)));
      }
    }
    if (inside) store(sum, writer, tile, at.batch, v, of_columns);
  }
};

template <TileConfig kTile, KernelTraits kTraits, ElementTypes kTypes, class Tile>
struct SliceReduction {
  using Slots = SlotSum<kTile, kTraits, kTypes, Tile>;
  using Writer = ResultWriter<kTraits.epilogue, kTypes.result>;
  static constexpr int kSlices = kTile.slices > 1 ? kTile.slices : 1;
  static constexpr bool kInCluster = kSlices > 1 && kTile.reduction == kReduceCluster;
  static constexpr bool kAtomic = kSlices > 1 && kTile.reduction == kReduceAtomic;
  static constexpr bool kInWorkspace = kSlices > 1 && !kInCluster && !kAtomic;
  static constexpr int kVector = Tile::kVector;
  using Bias = typename Writer::template BiasVector<kVector>;

  // Adds up the tiles that a block of kThreads threads has in shared memory, one of each of
  // kGroups groups, kGroupFloats apart, and those of the other slices. All threads come here.
  template <int kThreads, int kGroups, int kGroupFloats>
  static __device__ __forceinline__ void run(float* smem, const GemmArgs& args, const Tile& tile,
                                             int batch, int slice) {
    if constexpr (kGroups > 1 || !kInCluster) __syncthreads();  // the groups have stored their sums
    const auto sum = [&](int v) {
      return sum_of<kTypes.accumulator, kGroups>([&](int group) {
        return load_vector<kVector>(smem + group * kGroupFloats + Tile::offset(v));
      });
    };
    if constexpr (kInCluster) {
      if constexpr (kGroups > 1) {
        for_each_vector<kThreads, 1>(0, NoBias{}, [&](int v, NoBias) {
          store_vector<kVector>(smem + Tile::offset(v), sum(v));
        });
      }
      add_in_cluster<kThreads>(smem, args, tile, batch, slice);
    } else if constexpr (kInWorkspace) {
      float* slot = Slots::slot(args, static_cast<int>(blockIdx.x));
      for_each_vector<kThreads, 1>(0, NoBias{}, [&](int v, NoBias) {
        if (tile.m(v) < args.m) store_vector<kVector>(slot + kVector * v, sum(v));
      });
    } else if constexpr (kAtomic) {
      const auto writer = AtomicWriter::of(args, batch);
      for_each_vector<kThreads, 1>(0, NoBias{}, [&](int v, NoBias) {
        Slots::store(sum(v), writer, tile, batch, v, AsSummed{});
      });
    } else {
      const auto writer = Writer::of(args, batch);
      for_each_vector<kThreads, 1>(
          0, [&](int v) { return Slots::bias(writer, tile, v); },
          [&](int v, const Bias& bias) { Slots::store(sum(v), writer, tile, batch, v, bias); });
    }
  }

  // The kernel after the main one where sums are in the workspace.
  static constexpr int kFinishThreads = Slots::kThreads;
  static __device__ __forceinline__ void finish(const GemmArgs& args) {
    constexpr int kWays = finish_ways(kSlices, kVector);
    constexpr int kSubtiles = finish_blocks_of_tile(Slots::kSlotFloats, kVector, kWays);
    constexpr int kSlotsOfWay = (kSlices + kWays - 1) / kWays;
    constexpr int kMost = 32 / kVector;  // registers
    const int tile = static_cast<int>(blockIdx.x) / kSubtiles;
    const auto at = tile_coordinates<kTile.tile_m, kTile.tile_n>(args.m, args.n, tile, args.raster);
    Slots::template run<(kSlotsOfWay < kMost ? kSlotsOfWay : kMost)>(
        args, at, static_cast<int>(blockIdx.x) % kSubtiles, kWays, kSlices,
        [&](int i) { return tile * kSlices + i; });
  }

  // The kernel before the main one where sums are added atomically; vector_c elements of C a
  // thread.
  static constexpr int kPrepareThreads = gemmtune::kPrepareThreads;
  static __device__ __forceinline__ void prepare(const GemmArgs& args) {
    constexpr int kWidth = kTraits.vector_c;
    const long long entry = static_cast<long long>(args.m) * args.n;
    const long long i =
        (static_cast<long long>(blockIdx.x) * kPrepareThreads + threadIdx.x) * kWidth;
    if (i >= entry * args.batch) return;
    const long long batch = i / entry;
    const long long row = (i - batch * entry) / args.n;
    const long long column = i - batch * entry - row * args.n;
    GemmArgs without_product = args;
    without_product.alpha = 0.0f;
    Writer::of(without_product, static_cast<int>(batch))
        .template store<kWidth>({}, static_cast<int>(row), static_cast<int>(column));
  }

 private:
  struct NoBias {
    __device__ __forceinline__ NoBias operator()(int) const { return {}; }
  };

  // Calls use(v, bias_of(v)) for the calling thread's vectors in a tile that kRanks blocks share
  // out. Threads lie side by side along the rows; a thread's vectors are above each other, and have
  // one bias.
  template <int kThreads, int kRanks, class BiasOf, class Use>
  static __device__ __forceinline__ void for_each_vector(int rank, BiasOf bias_of, Use use) {
    constexpr int kAcross = Tile::kRowVectors < kThreads ? Tile::kRowVectors : kThreads;
    constexpr int kRows = kThreads / kAcross;
    const int row = static_cast<int>(threadIdx.x) / kAcross;
    if (row >= kRows) return;
    for (int column = static_cast<int>(threadIdx.x) % kAcross; column < Tile::kRowVectors;
         column += kAcross) {
      const auto bias = bias_of(column);
      for (int v = (rank * kRows + row) * Tile::kRowVectors + column; v < Tile::kVectors;
           v += kRanks * kRows * Tile::kRowVectors) {
        use(v, bias);
      }
    }
  }

  // Adds up the tiles that all blocks of a cluster have in shared memory, in the order of their
  // ranks.
  template <int kThreads>
  static __device__ __forceinline__ void add_in_cluster(const float* smem, const GemmArgs& args,
                                                        const Tile& tile, int batch, int rank) {
    const auto writer = Writer::of(args, batch);
    cluster_sync();
    for_each_vector<kThreads, kSlices>(
        rank, [&](int v) { return Slots::bias(writer, tile, v); },
        [&](int v, const Bias& bias) {
          const auto sum = sum_of<kTypes.accumulator, kSlices>(
              [&](int block) { return cluster_load<kVector>(smem + Tile::offset(v), block); });
          Slots::store(sum, writer, tile, batch, v, bias);
        });
    cluster_meet();  // no block may leave while others read its shared memory
  }
};

}  // namespace gemmtune
