#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/problem.h"

namespace gemmtune::vendor_test {

// Operands of a Problem in host memory, with small integers so that every sum is exact.
struct Operands {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;
  std::vector<float> bias;  // empty where there is none
};

inline Operands random_operands(const Problem& p, std::mt19937& random) {
  const auto fill = [&](int64_t bytes) {
    std::vector<float> values(static_cast<size_t>(bytes) / sizeof(float));
    for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 17) - 8);
    return values;
  };
  return {fill(bytes_a(p)), fill(bytes_b(p)), fill(bytes_c(p)),
          fill(bias_elements(p) * int64_t{sizeof(float)})};
}

// Of an f32 sum, as fake kernels and the fake cuBLASLt compute it.
inline float activated(Activation activation, float x) {
  switch (activation) {
    case kNoActivation:
      break;
    case kRelu:
      return std::max(x, 0.0F);
    case kGeluTanh:
      return 0.5F * x * (1 + std::tanh(0.7978845608F * (x + 0.044715F * x * x * x)));
    case kGeluErf:
      return 0.5F * x * (1 + std::erf(x * 0.7071067812F));
    case kSilu:
      return x / (1 + std::exp(-x));
  }
  return x;
}

// What element (i, j) of C becomes for a sum of `x`.
inline float finished(const Epilogue& epilogue, const float* bias, float x, int64_t i, int64_t j) {
  if (epilogue.bias == kBiasPerColumn) x += bias[j];
  if (epilogue.bias == kBiasPerRow) x += bias[i];
  return activated(epilogue.activation, x);
}

inline int64_t index_of(Order order, int64_t row, int64_t column, int64_t ld) {
  return order == Order::row_major ? row * ld + column : column * ld + row;
}

// C as the definition of Problem says; elements between rows (or columns) are left alone.
inline std::vector<float> reference(const Problem& p, const Operands& x, float alpha, float beta) {
  std::vector<float> c = x.c;
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    for (int64_t i = 0; i < p.shape.m; ++i) {
      for (int64_t j = 0; j < p.shape.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < p.shape.k; ++k) {
          const auto at =
              static_cast<size_t>(batch * p.stride_a + index_of(p.layout.a, i, k, p.lda));
          const auto bt =
              static_cast<size_t>(batch * p.stride_b + index_of(p.layout.b, k, j, p.ldb));
          sum += x.a[at] * x.b[bt];
        }
        float& out = c[static_cast<size_t>(batch * p.stride_c + index_of(p.layout.c, i, j, p.ldc))];
        out = finished(p.epilogue, x.bias.data(), alpha * sum + beta * out, i, j);
      }
    }
  }
  return c;
}

// A valid random problem of the given layout: sizes 1 to 9, padded leading dimensions and strides.
inline Problem random_problem(Layout layout, std::mt19937& random) {
  const auto upto = [&](int64_t most) { return 1 + static_cast<int64_t>(random()) % most; };
  Problem p = make_problem({upto(9), upto(9), upto(9)}, DataType::f32, layout);
  p.batch = upto(3);
  p.lda += upto(4) - 1;
  p.ldb += upto(4) - 1;
  p.ldc += upto(4) - 1;
  p.stride_a = p.stride_b = p.stride_c = 0;
  pack(p);
  if (p.batch > 1) {
    p.stride_a = random() % 4 == 0 ? 0 : p.stride_a + upto(5);
    p.stride_b += upto(5);
    p.stride_c += upto(5);
  }
  p.align_bytes = 4;
  return p;
}

inline std::vector<Layout> all_layouts() {
  std::vector<Layout> layouts;
  const Order orders[] = {Order::row_major, Order::column_major};
  for (const Order a : orders) {
    for (const Order b : orders) {
      for (const Order c : orders) layouts.push_back({a, b, c});
    }
  }
  return layouts;
}

}  // namespace gemmtune::vendor_test
