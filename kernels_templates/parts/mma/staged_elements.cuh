#pragma once

#include "parts/ptx/half_access.cuh"
#include "parts/ptx/vector_access.cuh"

// Elements of A or B that pass through registers on their way to shared memory, where they have 16
// bits.

namespace gemmtune {

// What one access holds on its way. It is packed or rounded only when it is stored: doing so sooner
// would wait for the loads.
template <ElementType kType, int kVector>
struct StagedElements {
  using Element = unsigned short;
  HalfVector<kVector> vector;

  // `first`: whether they exist, all or none.
  __device__ __forceinline__ void load(const Element* from, bool first, bool /*second*/) {
    vector = {};
    if (first) vector = load_halves<kVector>(from);
  }
  __device__ __forceinline__ HalfVector<kVector> packed() const { return vector; }
};
template <ElementType kType>
struct StagedElements<kType, 1> {
  using Element = unsigned short;
  Element pair[2];

  // Whether each of the two exists.
  __device__ __forceinline__ void load(const Element* from, bool first, bool second) {
    pair[0] = first ? from[0] : static_cast<Element>(0);
    pair[1] = second ? from[1] : static_cast<Element>(0);
  }
  __device__ __forceinline__ HalfVector<2> packed() const {
    return {{pack_halves(pair[0], pair[1])}};
  }
};
// f32 becomes f16.
template <int kVector>
struct StagedElements<kF32, kVector> {
  using Element = float;
  FloatVector<kVector> vector;

  __device__ __forceinline__ void load(const Element* from, bool first, bool /*second*/) {
    vector = {};
    if (first) vector = load_vector<kVector>(from);
  }
  __device__ __forceinline__ HalfVector<kVector> packed() const {
    HalfVector<kVector> out;
#pragma unroll
    for (int v = 0; v < kVector; v += 2) {
      out.words[v / 2] = to_half_pair<kF16>(vector.v[v], vector.v[v + 1]);
    }
    return out;
  }
};
template <>
struct StagedElements<kF32, 1> {
  using Element = float;
  Element pair[2];

  __device__ __forceinline__ void load(const Element* from, bool first, bool second) {
    pair[0] = first ? from[0] : 0.0f;
    pair[1] = second ? from[1] : 0.0f;
  }
  __device__ __forceinline__ HalfVector<2> packed() const {
    return {{to_half_pair<kF16>(pair[0], pair[1])}};
  }
};

template <int kWidth>
__device__ __forceinline__ void store_shared(unsigned to, const HalfVector<kWidth>& x) {
  if constexpr (kWidth == 8) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.words[0]),
                 "r"(x.words[1]), "r"(x.words[2]), "r"(x.words[3])
                 : "memory");
  } else if constexpr (kWidth == 4) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x.words[0]), "r"(x.words[1])
                 : "memory");
  } else {
    static_assert(kWidth == 2, "vectors are of 2, 4 or 8 elements");
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x.words[0]) : "memory");
  }
}

}  // namespace gemmtune
