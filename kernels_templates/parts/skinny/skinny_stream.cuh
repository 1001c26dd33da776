#pragma once

#include "parts/ptx/cp_async.cuh"
#include "parts/ptx/shared_address.cuh"
#include "parts/ptx/vector_access.cuh"
#include "parts/shared/kernel_traits.h"
#include "parts/shared/tile_config.h"
#include "parts/skinny/line_rotation.cuh"
#include "parts/skinny/skinny_geometry.cuh"

// The long operand of a tile with few rows or columns, as a thread reads it from global memory.
// Past the matrix's end the long side is clamped (those results are never stored), and k is filled
// with zeros.

namespace gemmtune {

// One thread's share of the long operand, a chunk of k at a time.
template <TileConfig kTile, KernelTraits kTraits>
class LongStream {
  using G = SkinnyGeometry<kTile, kTraits>;
  static constexpr int kWidth = G::kLongVector;
  static constexpr bool kOnce = kTraits.b_read_once && G::kShortRows;
  static constexpr int kVectors = G::kLongContiguousK ? G::kThreadLong : G::kThreadLong / kWidth;

 public:
  using Chunk = float[G::kUnroll][G::kThreadLong];
  static constexpr int kSlotFloats = long_stage_floats(kTile, G::kShape);  // of a ring

  // `base` is the operand's first element, `start` the tile's first position along the long side,
  // [k_begin, k_end) the range to read.
  __device__ __forceinline__ LongStream(const float* base, long long ld, int start, int extent,
                                        const LineRotation& rotation, int k_begin, int k_end)
      : ld_(ld), k_(k_begin), k_end_(k_end) {
    const int k = k_begin + G::k_of(0);
#pragma unroll
    for (int p = 0; p < kVectors; ++p) {
      if constexpr (G::kLongContiguousK) {
        from_[p] = base + min(rotation.place(start + G::long_of(p)), extent - 1) * ld + k;
      } else {
        from_[p] =
            base + k * ld + min(rotation.place(start + G::long_of(p * kWidth)), extent - kWidth);
      }
    }
  }

  // Loads the next chunk. chunk[u][o] is at k_of(u) of the chunk and long_of(o) of the tile.
  __device__ __forceinline__ void load(Chunk& chunk) {
    visit([&](int, int u, int p, const float* from, bool valid) {
      FloatVector<kWidth> x{};
      if (valid) x = load_vector<kWidth>(from);
      put(chunk, u, p, x);
    });
  }

  // Starts copying the next chunk to this thread's own part of a ring slot, [access][thread].
  __device__ __forceinline__ void copy(float* slot) {
    visit([&](int access, int, int, const float* from, bool valid) {
      cp_async_or_zero<kWidth * 4, kOnce>(shared_address(own(slot, access)), from, valid);
    });
  }

  // Reads what copy() has brought.
  static __device__ __forceinline__ void read(Chunk& chunk, float* slot) {
#pragma unroll
    for (int access = 0; access < kAccesses; ++access) {
      put(chunk, access / kVectors * kStep, access % kVectors,
          load_vector<kWidth>(own(slot, access)));
    }
  }

 private:
  static constexpr int kStep = G::kLongContiguousK ? kWidth : 1;
  static constexpr int kAccesses = G::kUnroll / kStep * kVectors;

  // Calls f(access, u, vector, address, whether its k exists) for each access of the next chunk.
  template <class F>
  __device__ __forceinline__ void visit(F f) {
    const long long step_k = G::kLongContiguousK ? 1 : ld_;
#pragma unroll
    for (int u = 0; u < G::kUnroll; u += kStep) {
      const bool valid = k_ + G::k_of(u) < k_end_;
#pragma unroll
      for (int p = 0; p < kVectors; ++p) {
        f(u / kStep * kVectors + p, u, p, from_[p] + (G::k_of(u) - G::k_of(0)) * step_k, valid);
      }
    }
#pragma unroll
    for (int p = 0; p < kVectors; ++p) from_[p] += G::kChunk * step_k;
    k_ += G::kChunk;
  }

  static __device__ __forceinline__ void put(Chunk& chunk, int u, int p,
                                             const FloatVector<kWidth>& x) {
#pragma unroll
    for (int v = 0; v < kWidth; ++v) {
      if constexpr (G::kLongContiguousK) {
        chunk[u + v][p] = x.v[v];
      } else {
        chunk[u][p * kWidth + v] = x.v[v];
      }
    }
  }

  static __device__ __forceinline__ float* own(float* slot, int access) {
    return slot + (access * G::kThreads + static_cast<int>(threadIdx.x)) * kWidth;
  }

  long long ld_;
  int k_;  // of the next chunk
  int k_end_;
  const float* from_[kVectors];
};

}  // namespace gemmtune
