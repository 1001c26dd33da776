#include "tuner/session/heats.h"

#include <doctest/doctest.h>

#include <vector>

#include "tuner/measure/benchmark.h"

namespace gemmtune::tuner {
namespace {

using Chosen = std::vector<size_t>;

TEST_CASE("few finalists all reach the final round") {
  CHECK(for_final_round({}).empty());
  const std::vector<HeatTimes> two = {{2, 2, false}, {1, 1, true}};
  CHECK(for_final_round(two) == Chosen{0, 1});
}

TEST_CASE("a finalist has to be good at full clocks and under a lasting load") {
  std::vector<HeatTimes> heats(6, {100, 110, false});
  heats[1] = {106, 107, false};  // needs little energy and much time
  heats[4] = {100, 113, false};  // the other way round
  CHECK(for_final_round(heats) == Chosen{0, 2, 3, 5});
  heats[1] = {102, 107, false};  // gains more than it loses
  CHECK(for_final_round(heats) == Chosen{0, 1, 2, 3});
}

TEST_CASE("who stays reaches the final round whatever its times") {
  std::vector<HeatTimes> heats(7, {100, 110, false});
  heats[3] = {200, 220, true};
  CHECK(for_final_round(heats) == Chosen{0, 1, 2, 3, 4});
  heats[3] = {90, 100, true};  // and takes no second place then
  CHECK(for_final_round(heats) == Chosen{0, 1, 2, 3});
}

TEST_CASE("after the first turns the two fastest of either side go on, and all that stay") {
  CHECK(for_further_turns({}).empty());
  std::vector<FirstTurns> shown = {{103, false, false}, {101, false, false}, {100, false, false},
                                   {104, false, false}, {99, true, false},   {120, true, true},
                                   {98, true, false},   {99.5, true, false}};
  CHECK(for_further_turns(shown) == Chosen{1, 2, 4, 5, 6});
  shown[3].stays = true;  // takes no other's place
  CHECK(for_further_turns(shown) == Chosen{1, 2, 3, 4, 5, 6});
  shown.resize(2);
  CHECK(for_further_turns(shown) == Chosen{0, 1});
}

TEST_CASE("more turns are due where the fastest of a side is not known to a hundredth") {
  const auto known_to = [](double us, double width, int turns = 6) {
    return MedianInterval{us, us - width / 2, us + width / 2, turns};
  };
  CHECK(for_more_turns({}).empty());
  std::vector<AllTurns> shown = {{known_to(100, 0.9), false}, {known_to(90, 0.8), true}};
  CHECK(for_more_turns(shown).empty());
  shown.push_back({known_to(101, 5), false});  // not the fastest of its side
  shown.push_back({known_to(91, 5), true});
  CHECK(for_more_turns(shown).empty());
  shown[2].time_us = known_to(99, 1.1);
  CHECK(for_more_turns(shown) == Chosen{0, 2});  // the other one may be as fast
  shown[0].time_us = known_to(101, 0.9);
  CHECK(for_more_turns(shown) == Chosen{2});
  shown[3].time_us = known_to(80, 1);
  CHECK(for_more_turns(shown) == Chosen{2, 3});
}

TEST_CASE("who has had fewer turns is due first, and nobody has more than the most") {
  const MedianInterval six = {100, 90, 110, 6};
  const MedianInterval nine = {100, 90, 110, 9};
  const MedianInterval most = {100, 90, 110, kMostTurns};
  CHECK(for_more_turns(std::vector<AllTurns>{{nine, false}, {six, false}, {nine, true}}) ==
        Chosen{1});
  CHECK(for_more_turns(std::vector<AllTurns>{{nine, false}, {most, true}}) == Chosen{0});
  CHECK(for_more_turns(std::vector<AllTurns>{{most, false}, {most, true}}).empty());
}

}  // namespace
}  // namespace gemmtune::tuner
