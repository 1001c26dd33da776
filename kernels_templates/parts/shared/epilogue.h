#pragma once

// What happens to a product before it is rounded and stored:
//
//     C = activation(alpha * op(A) * op(B) + beta * C + bias)

namespace gemmtune {

// A vector of C's element type in GemmArgs::bias, the same for every batch entry.
enum Bias : int {
  kNoBias = 0,
  kBiasPerColumn = 1,  // n values: element j is added to column j of C
  kBiasPerRow = 2,     // m values: element i is added to row i of C
};

enum Activation : int {
  kNoActivation = 0,
  kRelu = 1,      // max(x, 0)
  kGeluTanh = 2,  // 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): what cuBLASLt computes
  kGeluErf = 3,   // 0.5 x (1 + erf(x / sqrt(2)))
  kSilu = 4,      // x / (1 + exp(-x))
};

struct Epilogue {
  Bias bias = kNoBias;
  Activation activation = kNoActivation;

  constexpr bool operator==(const Epilogue&) const = default;
};

}  // namespace gemmtune
