#pragma once

// What happens to a product before it is rounded and stored:
//
//     C = activation(alpha * op(A) * op(B) + beta * C + bias)

namespace gemmtune {

// Of the values of 8-bit operands: f32 in GemmArgs::scale_a and scale_b, which a batch shares.
enum Scale : int {
  kNoScale = 0,
  kScalePerTensor = 1,  // a factor of A and a factor of B
  kScalePerRow = 2,     // m factors, of rows of op(A), and n factors, of columns of op(B)
  // For each 128 values of k, the last ones may be fewer (block_scales.h):
  kScale1x128 = 3,           // as kScalePerRow
  kScale1x128By128x128 = 4,  // of rows of op(A), and of each 128 columns of op(B)
  kScale128x128By1x128 = 5,  // of each 128 rows of op(A), and of columns of op(B)
};

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
  Scale scale = kNoScale;

  constexpr bool operator==(const Epilogue&) const = default;
};

}  // namespace gemmtune
