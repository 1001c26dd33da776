#include "tuner/session/settling.h"

#include <doctest/doctest.h>

namespace gemmtune::tuner {
namespace {

TEST_CASE("a search has settled when 48 candidates gained nothing and little is expected") {
  Settling settling;
  settling.note(0.002, 16, 0, 100);
  settling.note(0.002, 56, 0, 99.7);  // less than 0.5% faster
  CHECK_FALSE(settling.settled());
  settling.note(0.02, 64, 0, 99.7);
  CHECK_FALSE(settling.settled());
  settling.note(0.009, 72, 0, 99.7);
  CHECK(settling.settled());
  CHECK(settling.expected_gain() == 0.009);
}

TEST_CASE("a search has settled when 64 candidates gained nothing, whatever is expected") {
  Settling settling;
  settling.note(0.2, 16, 0, 100);
  settling.note(0.2, 79, 0, 99.7);
  CHECK_FALSE(settling.settled());
  settling.note(0.2, 80, 0, 99.7);
  CHECK(settling.settled());
}

TEST_CASE("candidates under way count as without a gain, and a gain as of those that are known") {
  Settling settling;
  settling.note(0, 16, 24, 100);
  settling.note(0, 40, 23, 99.7);
  CHECK_FALSE(settling.settled());
  CHECK(settling.without_gain() == 47);
  settling.note(0, 40, 24, 99.7);
  CHECK(settling.settled());
}

TEST_CASE("small gains add up") {
  Settling settling;
  settling.note(0, 16, 0, 100);
  settling.note(0, 40, 0, 99.7);
  settling.note(0, 60, 0, 99.4);  // 0.6% since the first
  settling.note(0, 64, 0, 99.4);
  CHECK_FALSE(settling.settled());
  settling.note(0, 108, 0, 99.4);
  CHECK(settling.settled());
}

TEST_CASE("a search goes on if what was under way was faster after all") {
  Settling settling;
  settling.note(0, 16, 0, 100);
  settling.note(0, 64, 0, 100);
  settling.confirm(72, 99.8);
  CHECK(settling.settled());
  settling.confirm(80, 99);
  CHECK_FALSE(settling.settled());
}

}  // namespace
}  // namespace gemmtune::tuner
