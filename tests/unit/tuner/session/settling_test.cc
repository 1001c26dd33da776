#include "tuner/session/settling.h"

#include <doctest/doctest.h>

namespace gemmtune::tuner {
namespace {

TEST_CASE("a search has settled when 36 candidates gained nothing and little is expected") {
  Settling settling;
  settling.note(0.002, 16, 100);
  settling.note(0.002, 48, 99.7);  // less than 0.5% faster
  CHECK_FALSE(settling.settled());
  settling.note(0.02, 56, 99.7);
  CHECK_FALSE(settling.settled());
  settling.note(0.009, 64, 99.7);
  CHECK(settling.settled());
  CHECK(settling.expected_gain() == 0.009);
}

TEST_CASE("a search has settled when 54 candidates gained nothing, whatever is expected") {
  Settling settling;
  settling.note(0.2, 16, 100);
  settling.note(0.2, 69, 99.7);
  CHECK_FALSE(settling.settled());
  settling.note(0.2, 70, 99.7);
  CHECK(settling.settled());
}

TEST_CASE("small gains add up") {
  Settling settling;
  settling.note(0, 16, 100);
  settling.note(0, 30, 99.7);
  settling.note(0, 45, 99.4);  // 0.6% since the first
  settling.note(0, 52, 99.4);
  CHECK_FALSE(settling.settled());
  settling.note(0, 81, 99.4);
  CHECK(settling.settled());
}

TEST_CASE("a search goes on if what was under way was faster after all") {
  Settling settling;
  settling.note(0, 16, 100);
  settling.note(0, 52, 100);
  settling.confirm(60, 99.8);
  CHECK(settling.settled());
  settling.confirm(64, 99);
  CHECK_FALSE(settling.settled());
}

}  // namespace
}  // namespace gemmtune::tuner
