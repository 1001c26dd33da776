#include "tuner/session/incumbency.h"

#include <doctest/doctest.h>

using gemmtune::tuner::Incumbency;

TEST_CASE("own kernels are not given up for being slower than the vendor") {
  Incumbency standing = Incumbency::of_vendor(100);
  CHECK_FALSE(standing.hopeless(190));
  CHECK_FALSE(standing.unlikely(190, 100));
  CHECK(standing.challenged(190, 100));  // the first own kernel, slower than the vendor

  CHECK(standing.median_us() == doctest::Approx(190));
  CHECK_FALSE(standing.hopeless(240));
  CHECK(standing.hopeless(250));
  CHECK(standing.unlikely(196, 190));
  CHECK_FALSE(standing.unlikely(195, 190));
}

TEST_CASE("the faster own kernel is the incumbent") {
  Incumbency standing = Incumbency::of_first_own(100);
  CHECK_FALSE(standing.challenged(101, 100));
  CHECK_FALSE(standing.challenged(100, 100));
  CHECK(standing.challenged(90, 100));
  CHECK(standing.median_us() == doctest::Approx(90));
}

TEST_CASE("scores are times at the clocks of the first incumbent") {
  Incumbency standing = Incumbency::of_vendor(100);
  CHECK(standing.score_of(150, 100) == doctest::Approx(150));
  CHECK(standing.challenged(150, 100));

  // Clocks sink by a tenth: the incumbent takes 165 where it took 150.
  CHECK(standing.score_of(165, 165) == doctest::Approx(150));
  CHECK_FALSE(standing.challenged(176, 165));
  CHECK(standing.median_us() == doctest::Approx(165));
  CHECK_FALSE(standing.hopeless(1.29 * 165));  // as it is now, not as it was
  CHECK(standing.score_of_sample(330) == doctest::Approx(300));

  CHECK(standing.challenged(154, 165));
  CHECK(standing.score_of(154, 154) == doctest::Approx(140));
}
