#pragma once

#include "parts/epilogue/fetched_results.cuh"
#include "parts/epilogue/result_writer.cuh"
#include "parts/epilogue/slab_drain.cuh"

// SlabDrain of what C held, which is loaded before the slab is filled.

namespace gemmtune {

// `Drain` is the SlabDrain of accesses of kVector elements.
template <class Drain, int kVector, int kStride, int kRows>
struct FetchedSlab {
  static constexpr int kAccesses = Drain::kAccesses;

  // Where the lane stores.
  template <class Writer>
  struct Old {
    typename Writer::template BiasVector<kVector> at[kAccesses] = {};
  };

  // (row, column) is the element of C of the slab's first sum.
  template <class Writer>
  static __device__ __forceinline__ Old<Writer> load(const Writer& writer, int row, int column) {
    Old<Writer> out;
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) {
      const int m = row + slab_row(i);
      const int n = column + Drain::slab_column(i);
      if (slab_row(i) < kRows && m < writer.args.m && n < writer.args.n)
        out.at[i] = fetched<kVector>(writer, m, n);
    }
    return out;
  }

  // `bias` is of Drain::bias(); `corrected` is given each sum and the row and column of C it is
  // for.
  template <class Writer, class Bias, class Corrected>
  static __device__ __forceinline__ void run(const Old<Writer>& old, const float* slab,
                                             const Writer& writer, int row, int column,
                                             const Bias& bias, Corrected corrected) {
#pragma unroll
    for (int i = 0; i < kAccesses; ++i) {
      const int m = row + slab_row(i);
      const int n = column + Drain::slab_column(i);
      if (slab_row(i) >= kRows || m >= writer.args.m || n >= writer.args.n) continue;
      auto sums = Drain::load_sums(slab + slab_row(i) * kStride + Drain::slab_column(i));
#pragma unroll
      for (int v = 0; v < kVector; ++v) sums.v[v] = corrected(sums.v[v], m, n + v);
      store_over(old.at[i], writer, sums, m, n, bias.at[i % Drain::kPlaces]);
    }
  }

 private:
  // Of the lane's i-th access.
  static __device__ __forceinline__ int slab_row(int i) {
    return (i * 32 + static_cast<int>(threadIdx.x) % 32) / Drain::kRowAccesses;
  }
};

}  // namespace gemmtune
