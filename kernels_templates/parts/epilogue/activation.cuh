#pragma once

#include "parts/shared/epilogue.h"

// Activations of f32 values. NaN stays NaN. Those with an exponential follow their formulas at
// -infinity too, where a product of infinity and zero is NaN.

namespace gemmtune {

// x / (1 + exp(minus_t)): x times the logistic function of t.
__device__ __forceinline__ float times_logistic(float x, float minus_t) {
  return __fdividef(x, 1.0f + __expf(minus_t));
}

template <Activation kActivation>
__device__ __forceinline__ float activated(float x) {
  if constexpr (kActivation == kRelu) {
    return x < 0.0f ? 0.0f : x;
  } else if constexpr (kActivation == kGeluTanh) {
    // 0.5 (1 + tanh(u)) is the logistic function of 2 u.
    constexpr float kMinus2SqrtTwoByPi = -1.5957691216057308f;
    return times_logistic(x, kMinus2SqrtTwoByPi * x * fmaf(0.044715f, x * x, 1.0f));
  } else if constexpr (kActivation == kGeluErf) {
    constexpr float kSqrtHalf = 0.7071067811865476f;
    return 0.5f * x * (1.0f + erff(kSqrtHalf * x));
  } else if constexpr (kActivation == kSilu) {
    return times_logistic(x, -x);
  } else {
    static_assert(kActivation == kNoActivation, "an activation without a formula");
    return x;
  }
}

}  // namespace gemmtune
