#pragma once

#include <span>

namespace gemmtune::tuner {

// A median with its confidence interval. All in the unit of the samples.
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;
  int count = 0;
};

// Median and its distribution-free 95% confidence interval: the order statistics whose ranks
// bracket the median with that probability under the binomial distribution (Hettmansperger &
// McKean, "Robust Nonparametric Statistical Methods", ch. 1). Fewer than 6 samples cannot reach
// 95%: then the interval is [min, max]. An empty span gives zeros.
MedianInterval median_interval(std::span<const double> samples);

// exp(mean(log(x))). 0 for an empty span; every value must be > 0.
double geometric_mean(std::span<const double> values);

}  // namespace gemmtune::tuner
