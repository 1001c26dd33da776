#pragma once

#include "parts/ptx/memory_read.cuh"

// Accesses of 1, 2 or 4 floats as one instruction.

namespace gemmtune {

template <int kWidth>
struct FloatVector {
  float v[kWidth];
};

template <int kWidth, class Read = AsWritten>
__device__ __forceinline__ FloatVector<kWidth> load_vector(const float* from) {
  FloatVector<kWidth> out;
  if constexpr (kWidth == 4) {
    const float4 x = Read::of(reinterpret_cast<const float4*>(from));
    out.v[0] = x.x, out.v[1] = x.y, out.v[2] = x.z, out.v[3] = x.w;
  } else if constexpr (kWidth == 2) {
    const float2 x = Read::of(reinterpret_cast<const float2*>(from));
    out.v[0] = x.x, out.v[1] = x.y;
  } else {
    static_assert(kWidth == 1, "widths are 1, 2 and 4");
    out.v[0] = Read::of(from);
  }
  return out;
}

template <int kWidth>
__device__ __forceinline__ void store_vector(float* to, const FloatVector<kWidth>& x) {
  if constexpr (kWidth == 4) {
    *reinterpret_cast<float4*>(to) = make_float4(x.v[0], x.v[1], x.v[2], x.v[3]);
  } else if constexpr (kWidth == 2) {
    *reinterpret_cast<float2*>(to) = make_float2(x.v[0], x.v[1]);
  } else {
    static_assert(kWidth == 1, "widths are 1, 2 and 4");
    *to = x.v[0];
  }
}

}  // namespace gemmtune
