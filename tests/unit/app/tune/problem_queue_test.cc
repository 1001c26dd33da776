#include "app/tune/devices/problem_queue.h"

#include <doctest/doctest.h>

#include "app/tune/problem_clock.h"

namespace gemmtune::app {
namespace {

using BegunOn = std::vector<std::optional<size_t>>;

TEST_CASE("whoever asks gets the next problem") {
  ProblemQueue queue({2, 0, 1}, BegunOn(3));
  CHECK(queue.next(0) == 2);
  CHECK(queue.next(1) == 0);
  CHECK(queue.size() == 1);
  CHECK(queue.next(1) == 1);
  CHECK(queue.size() == 0);
  CHECK_FALSE(queue.next(0));
}

TEST_CASE("a device goes on with what it has begun, and takes another's only at the end") {
  ProblemQueue queue({0, 1, 2, 3}, BegunOn{1, std::nullopt, 0, 1});
  CHECK(queue.next(0) == 1);
  CHECK(queue.next(0) == 2);
  CHECK(queue.next(0) == 0);
  CHECK(queue.next(1) == 3);
  CHECK(queue.size() == 0);
}

TEST_CASE("a problem is given back once, and kept for its device") {
  ProblemQueue queue({0, 1}, BegunOn(2));
  CHECK(queue.next(0) == 0);
  CHECK(queue.give_back(0, 0));
  CHECK(queue.next(1) == 1);
  CHECK_FALSE(queue.has_next(1));
  CHECK_FALSE(queue.next(1));
  CHECK(queue.has_next(0));
  CHECK(queue.next(0) == 0);
  CHECK_FALSE(queue.give_back(0, 0));
  CHECK(queue.size() == 0);
}

TEST_CASE("what was kept for a device that is left out goes to the others") {
  ProblemQueue queue({0}, BegunOn(1));
  CHECK(queue.next(0) == 0);
  CHECK(queue.give_back(0, 0));
  CHECK_FALSE(queue.has_next(1));
  queue.leave_out(0);
  CHECK(queue.next(1) == 0);
}

TEST_CASE("what is left is shared by the devices") {
  ProblemClock clock(5, 2);
  TunePlace place = clock.begin();
  CHECK(place.number == 1);
  CHECK(place.count == 5);
  CHECK_FALSE(place.seconds_left);
  CHECK(clock.begin().number == 2);
  clock.end(10);
  place = clock.begin();
  CHECK(place.number == 3);
  CHECK(place.seconds_left == doctest::Approx(20));  // four of 10 s, two at a time
  clock.end(14);
  CHECK(clock.begin_again(3).number == 3);
  CHECK(clock.begin().seconds_left == doctest::Approx(18));
}

}  // namespace
}  // namespace gemmtune::app
