#include "tuner/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gemmtune::tuner {
namespace {

constexpr int kFewestForInterval = 6;  // 2 * 0.5^6 < 5%

// Largest rank r (1-based) such that [x_(r), x_(n+1-r)] covers the median with at least 95%.
size_t lower_rank(size_t n) {
  double probability = std::pow(0.5, static_cast<double>(n));  // P(X = 0), X ~ B(n, 1/2)
  double tail = probability;                                   // P(X <= rank - 1)
  size_t rank = 1;
  while (rank < n / 2) {
    probability *= static_cast<double>(n - rank + 1) / static_cast<double>(rank);
    if (2 * (tail + probability) > 0.05) break;
    tail += probability;
    ++rank;
  }
  return rank;
}

}  // namespace

MedianInterval median_interval(std::span<const double> samples) {
  if (samples.empty()) return {};
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  const double median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  const size_t rank = n < kFewestForInterval ? 1 : lower_rank(n);
  return {median, sorted[rank - 1], sorted[n - rank], static_cast<int>(n)};
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace gemmtune::tuner
