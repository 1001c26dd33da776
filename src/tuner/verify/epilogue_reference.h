#pragma once

#include "core/epilogue.h"

namespace gemmtune::tuner {

// The activation of `x` in fp64. NaN stays NaN. Of -infinity the formulas of GELU and SiLU make
// NaN (-inf * 0).
double activated(Activation activation, double x);

// How many times larger than that of its argument the error of an activation may be: above the
// largest slope of its graph.
double steepest_slope(Activation activation);

// Whether equal sums in f32 give equal results: not where an exponential is approximated.
constexpr bool is_exact(Activation activation) {
  return activation == kNoActivation || activation == kRelu;
}

// Whether `got` is right for a sum of -infinity: NaN or 0 where kernels may follow the formula or
// its limit.
bool right_of_minus_infinity(Activation activation, double got);

}  // namespace gemmtune::tuner
