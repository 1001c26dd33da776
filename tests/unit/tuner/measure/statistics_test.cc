#include "tuner/measure/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gemmtune::tuner {
namespace {

TEST_CASE("median of odd, even, one and no samples") {
  CHECK(median_interval(std::vector<double>{3, 1, 2}).median == 2);
  CHECK(median_interval(std::vector<double>{4, 1, 2, 3}).median == 2.5);
  CHECK(median_interval(std::vector<double>{5}).median == 5);
  CHECK(median_interval({}).count == 0);
}

TEST_CASE("few samples cannot reach 95%: the interval is all of them") {
  const auto interval = median_interval(std::vector<double>{3, 1, 4, 2, 5});
  CHECK(interval.low == 1);
  CHECK(interval.high == 5);
}

// Ranks from the tables of the sign test: n = 6 -> (1, 6), 9 -> (2, 8), 20 -> (6, 15), 50 -> (18,
// 33).
TEST_CASE("ranks of the interval are the sign test's") {
  const auto ranks = [](int n) {
    std::vector<double> samples;
    for (int i = 1; i <= n; ++i) samples.push_back(i);
    const auto interval = median_interval(samples);
    return std::pair(static_cast<int>(interval.low), static_cast<int>(interval.high));
  };
  CHECK(ranks(6) == std::pair(1, 6));
  CHECK(ranks(9) == std::pair(2, 8));
  CHECK(ranks(20) == std::pair(6, 15));
  CHECK(ranks(50) == std::pair(18, 33));
}

TEST_CASE("the interval covers the true median at least 95% of the time") {
  std::mt19937 random(1);
  std::lognormal_distribution<double> noise(0.0, 0.3);  // skewed; median 1
  for (const int n : {7, 12, 31}) {
    int covered = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples(static_cast<size_t>(n));
      for (double& sample : samples) sample = noise(random);
      const auto interval = median_interval(samples);
      covered += interval.low <= 1.0 && 1.0 <= interval.high ? 1 : 0;
    }
    CHECK(covered > 0.94 * kTrials);
  }
}

TEST_CASE("geometric mean") {
  CHECK(geometric_mean(std::vector<double>{1, 4}) == doctest::Approx(2));
  CHECK(geometric_mean(std::vector<double>{2, 2, 2}) == doctest::Approx(2));
  CHECK(geometric_mean({}) == 0);
}

}  // namespace
}  // namespace gemmtune::tuner
