#include "tuner/session/incumbency.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace gemmtune::tuner {
namespace {

MedianInterval about(double us) {
  return {us, 0.99 * us, 1.01 * us};
}

TEST_CASE("own kernels are not given up for being slower than the vendor") {
  Incumbency standing = Incumbency::of_vendor(100);
  CHECK_FALSE(standing.hopeless(190));
  CHECK_FALSE(standing.unlikely(190, 100));
  CHECK(standing.beaten(about(190), about(100)));  // the first own kernel, slower than the vendor
  standing.replace(190, 100);

  CHECK(standing.median_us() == doctest::Approx(190));
  CHECK_FALSE(standing.hopeless(240));
  CHECK(standing.hopeless(250));
  CHECK(standing.unlikely(196, 190));
  CHECK_FALSE(standing.unlikely(195, 190));
}

TEST_CASE("an own kernel that is faster beyond doubt is the incumbent") {
  const Incumbency standing = Incumbency::of_first_own(100);
  CHECK_FALSE(standing.beaten(about(101), about(100)));
  CHECK_FALSE(standing.beaten(about(99), about(100)));
  CHECK(standing.beaten(about(97), about(100)));
}

TEST_CASE("scores are times at the clocks of the first incumbent") {
  Incumbency standing = Incumbency::of_vendor(100);
  CHECK(standing.score_of(150, 100) == doctest::Approx(150));
  standing.replace(150, 100);

  // Clocks sink by a tenth: the incumbent takes 165 where it took 150.
  CHECK(standing.score_of(165, 165) == doctest::Approx(150));
  standing.measured(165);
  CHECK(standing.median_us() == doctest::Approx(165));
  CHECK_FALSE(standing.hopeless(1.29 * 165));  // as it is now, not as it was
  CHECK(standing.score_of_sample(330) == doctest::Approx(300));

  standing.replace(154, 165);
  CHECK(standing.score_of(154, 154) == doctest::Approx(140));
}

// With what was fastest in a comparison as the next incumbent, 300 kernels that all take 100 us
// brought scores down to 42 of 100 on a card.
TEST_CASE("however many kernels are alike, their scores stay") {
  for (const int samples : {4, 7}) {
    std::mt19937_64 random(1);
    const auto series = [&] {
      std::vector<double> times;
      for (int i = 0; i < samples; ++i)
        times.push_back(std::normal_distribution(100.0, 2.0)(random));
      return median_interval(times);
    };
    Incumbency standing = Incumbency::of_vendor(100);
    standing.replace(100, 100);
    for (int i = 0; i < 300; ++i) {
      const MedianInterval incumbent = series();
      standing.measured(incumbent.median);
      if (standing.beaten(series(), incumbent)) standing.replace(series().median, series().median);
    }
    CAPTURE(samples);
    CHECK(standing.score_of(100, 100) > 96);
    CHECK(standing.score_of(100, 100) < 104);
  }
}

}  // namespace
}  // namespace gemmtune::tuner
