#include "tuner/model/regression_forest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace gemmtune::tuner {
namespace {

float step(float x, float y) {
  return x < 0.5F ? 2.0F * y : 1.0F - y;
}

std::vector<Sample> samples_of_step(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> unit(0.0F, 1.0F);
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i) {
    const float x = unit(random);
    const float y = unit(random);
    // The third feature has nothing to do with the value, the fourth never changes.
    samples.push_back({{x, y, unit(random), 7.0F}, step(x, y)});
  }
  return samples;
}

TEST_CASE("a forest learns what depends on two of four features") {
  const auto forest = RegressionForest::fit(samples_of_step(400, 1), 2);
  double squares = 0;
  double variance = 0;
  for (const Sample& sample : samples_of_step(400, 3)) {
    const auto estimate = forest.estimate(sample.features);
    squares += std::pow(estimate.mean - sample.value, 2);
    variance += std::pow(sample.value - 0.75, 2);
  }
  CHECK(squares < 0.1 * variance);
}

TEST_CASE("estimates stay within the values learnt, and are surer where more is known") {
  const auto samples = samples_of_step(60, 1);
  const auto forest = RegressionForest::fit(samples, 2);
  const auto [low, high] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const Sample& a, const Sample& b) { return a.value < b.value; });
  for (const Sample& sample : samples_of_step(200, 4)) {
    const auto estimate = forest.estimate(sample.features);
    CHECK(estimate.mean >= low->value - 1e-6);
    CHECK(estimate.mean <= high->value + 1e-6);
    CHECK(estimate.deviation >= 0);
  }
  const std::vector<Sample> same(20, Sample{{1.0F, 2.0F}, 5.0F});
  const auto sure = RegressionForest::fit(same, 1).estimate(std::vector<float>{1.0F, 2.0F});
  CHECK(sure.mean == 5.0);
  CHECK(sure.deviation == 0.0);
}

TEST_CASE("one sample is enough, and the same seed grows the same forest") {
  const std::vector<Sample> one{{{1.0F}, 3.0F}};
  CHECK(RegressionForest::fit(one, 1).estimate(std::vector<float>{9.0F}).mean == 3.0);
  const auto samples = samples_of_step(50, 1);
  const auto a = RegressionForest::fit(samples, 5);
  const auto b = RegressionForest::fit(samples, 5);
  for (const Sample& sample : samples_of_step(50, 6))
    CHECK(a.estimate(sample.features).mean == b.estimate(sample.features).mean);
}

}  // namespace
}  // namespace gemmtune::tuner
