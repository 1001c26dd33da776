#include "tuner/verify/epilogue_reference.h"

#include <cmath>
#include <numbers>

namespace gemmtune::tuner {
namespace {

double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

}  // namespace

double activated(Activation activation, double x) {
  switch (activation) {
    case kRelu:
      return x < 0 ? 0.0 : x;  // NaN is not below
    case kGeluTanh:
      return gelu_tanh(x);
    case kGeluErf:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case kSilu:
      return x / (1 + std::exp(-x));
    case kNoActivation:
      break;
  }
  return x;
}

double steepest_slope(Activation activation) {
  switch (activation) {
    case kGeluTanh:
    case kGeluErf:
      return 1.13;
    case kSilu:
      return 1.1;
    case kRelu:
    case kNoActivation:
      break;
  }
  return 1;
}

bool right_of_minus_infinity(Activation activation, double got) {
  if (is_exact(activation)) return got == activated(activation, -INFINITY);
  return std::isnan(got) || got == 0;
}

}  // namespace gemmtune::tuner
