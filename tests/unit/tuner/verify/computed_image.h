#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "core/elements.h"
#include "tuner/verify/verdict.h"
#include "tuner/verify/verification_case.h"

namespace gemmtune::tuner {

// What is done to element (i, j) of alpha * A * B + beta * C.
using Finish = std::function<float(float sum, int64_t i, int64_t j)>;

inline float activated_in_f32(Activation activation, float x) {
  switch (activation) {
    case kRelu:
      return x < 0 ? 0.0F : x;
    case kGeluTanh:
      return 0.5F * x * (1.0F + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
    case kGeluErf:
      return 0.5F * x * (1.0F + std::erf(x * 0.70710678F));
    case kSilu:
      return x / (1.0F + std::exp(-x));
    case kNoActivation:
      break;
  }
  return x;
}

inline float bias_at(Bias bias, const HostOperands& host, int64_t i, int64_t j) {
  if (bias == kNoBias) return 0;
  return host.bias[static_cast<size_t>(bias == kBiasPerRow ? i : j)];
}

// The problem's own epilogue.
inline Finish right_finish(const VerificationCase& test, const HostOperands& host) {
  return [&test, &host](float sum, int64_t i, int64_t j) {
    const Epilogue& epilogue = test.problem.epilogue;
    return activated_in_f32(epilogue.activation, sum + bias_at(epilogue.bias, host, i, j));
  };
}

// What the product of element (i, l) of A and (l, j) of B is multiplied by.
using ScaleAt = std::function<float(int64_t i, int64_t j, int64_t l)>;

inline ScaleAt right_scale(const VerificationCase& test, const HostOperands& host) {
  const Problem& problem = test.problem;
  if (problem.epilogue.scale == kNoScale) return [](int64_t, int64_t, int64_t) { return 1.0F; };
  return [&problem, &host](int64_t i, int64_t j, int64_t l) {
    const ScaleIndex at = scale_index(problem, i, j, l);
    return host.scale_a[static_cast<size_t>(at.a)] * host.scale_b[static_cast<size_t>(at.b)];
  };
}

// What a kernel with that `finish` and these scales leaves behind, summed in f32 in a plain order.
inline std::vector<float> computed_image(const VerificationCase& test, const HostOperands& host,
                                         const Finish& finish, const ScaleAt& scale) {
  const Problem& p = test.problem;
  std::vector<float> image = guarded(host.c, result_type(p));
  const auto at = [](Order order, int64_t i, int64_t j, int64_t ld) {
    return order == Order::row_major ? i * ld + j : j * ld + i;
  };
  for (int64_t z = 0; z < p.batch; ++z) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      for (int64_t j = 0; j < p.shape.n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < p.shape.k; ++l) {
          const float a = host.a[static_cast<size_t>(z * p.stride_a + at(p.layout.a, i, l, p.lda))];
          const float b = host.b[static_cast<size_t>(z * p.stride_b + at(p.layout.b, l, j, p.ldb))];
          sum = std::fma(a * scale(i, j, l), b, sum);
        }
        const auto c = static_cast<size_t>(z * p.stride_c + i * p.ldc + j);
        const float old = test.beta == 0 ? 0.0F : test.beta * host.c[c];
        image[c + kGuardElements] = rounded(finish(test.alpha * sum + old, i, j), result_type(p));
      }
    }
  }
  return image;
}

inline std::vector<float> computed_image(const VerificationCase& test, const HostOperands& host,
                                         const Finish& finish) {
  return computed_image(test, host, finish, right_scale(test, host));
}

inline std::vector<float> correct_image(const VerificationCase& test, const HostOperands& host) {
  return computed_image(test, host, right_finish(test, host));
}

}  // namespace gemmtune::tuner
