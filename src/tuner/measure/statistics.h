#pragma once

#include <span>

namespace gemmtune::tuner {

// A median with its confidence interval. All in the unit of the samples.
struct MedianInterval {
  double median = 0;
  double low = 0;
  double high = 0;
  int count = 0;

  // Width of the interval relative to the median; infinite while there are too few samples to say.
  double relative_width() const;
};

// Median and its distribution-free 95% confidence interval: the order statistics whose ranks
// bracket the median with that probability under the binomial distribution (Hettmansperger &
// McKean, "Robust Nonparametric Statistical Methods", ch. 1). Fewer than 6 samples cannot reach
// 95%: then the interval is [min, max]. An empty span gives zeros.
MedianInterval median_interval(std::span<const double> samples);

// exp(mean(log(x))). 0 for an empty span; every value must be > 0.
double geometric_mean(std::span<const double> values);

// When a series of samples is long enough.
struct StoppingRule {
  int min_samples = 7;  // fewer leave a median 4-11% off on noisy cards, 7 within 1.2%
  int max_samples = 60;
  double relative_width = 0.01;  // of the 95% interval of the median

  bool done(const MedianInterval& interval) const;
};

}  // namespace gemmtune::tuner
