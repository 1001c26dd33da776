#include "tuner/measure/rounds.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace gemmtune::tuner {
namespace {

// Two contenders, a and b, whose samples are numbers that count up, and who was asked in which
// order.
struct Race {
  std::vector<Contender> contenders = std::vector<Contender>(2);
  std::string order;
  TakeSample take = [this](const Contender& contender) -> gpu::Result<RoundSample> {
    order += is_a(contender) ? 'a' : 'b';
    return RoundSample{static_cast<double>(order.size()), std::nullopt};
  };
  size_t rounds_of_time = 0;
  std::function<bool()> time_is_up = [this] { return order.size() >= 2 * rounds_of_time; };

  bool is_a(const Contender& contender) const { return &contender == contenders.data(); }
  size_t samples() const { return contenders.front().samples_us.size(); }
};

TEST_CASE("rounds give each contender all samples, those before included") {
  Race race;
  REQUIRE(take_rounds(race.contenders, race.take, {2}));
  CHECK(race.order == "abab");
  REQUIRE(take_rounds(race.contenders, race.take, {6}));
  CHECK(race.samples() == 6);
  CHECK(race.order.size() == 12);
  REQUIRE(take_rounds(race.contenders, race.take, {6}));
  CHECK(race.samples() == 6);
  CHECK(race.contenders[1].samples_us == std::vector<double>{2, 4, 6, 8, 10, 12});
}

TEST_CASE("two contenders begin in turns, if asked for") {
  Race race;
  REQUIRE(take_rounds(race.contenders, race.take, {3, 0, true}));
  CHECK(race.order == "abbaab");
  CHECK(race.contenders[0].samples_us == std::vector<double>{1, 4, 5});
}

TEST_CASE("a spread order has each contender once, and neighbours apart") {
  for (size_t count = 0; count <= 40; ++count) {
    CAPTURE(count);
    for (int round = 0; round < 7; ++round) {
      std::vector<size_t> order = spread_order(count, round);
      for (size_t i = 1; count >= 7 && i < count; ++i) {
        const size_t apart = (order[i] + count - order[i - 1]) % count;
        CHECK(std::min(apart, count - apart) > 1);
      }
      std::sort(order.begin(), order.end());
      for (size_t i = 0; i < count; ++i) REQUIRE(order[i] == i);
      CHECK(order.size() == count);
    }
  }
}

// At a power limit a card is slow for some time, at any moment of a comparison.
TEST_CASE("a slow time moves no median of three rounds") {
  constexpr size_t kContenders = 24;
  constexpr size_t kSlow = kContenders / 2;
  for (size_t begin = 0; begin < 3 * kContenders; ++begin) {
    CAPTURE(begin);
    std::vector<Contender> contenders(kContenders);
    size_t taken = 0;
    const TakeSample take = [&](const Contender& contender) -> gpu::Result<RoundSample> {
      const bool slow = taken >= begin && taken < begin + kSlow;
      ++taken;
      const auto us = static_cast<double>(100 + (&contender - contenders.data()));
      return RoundSample{slow ? 1.2 * us : us, std::nullopt};
    };
    REQUIRE(take_rounds(contenders, take, {3, 0, true}));
    for (size_t i = 0; i < kContenders; ++i)
      CHECK(median_interval(contenders[i].samples_us).median == static_cast<double>(100 + i));
  }
}

TEST_CASE("rounds end when the time is up, but not before the fewest samples") {
  for (const auto& [rounds, samples] : {std::pair(1, 3), {3, 3}, {4, 4}, {100, 6}}) {
    Race race;
    race.rounds_of_time = static_cast<size_t>(rounds);
    REQUIRE(take_rounds(race.contenders, race.take, {6, 0, false, race.time_is_up, 3}));
    CHECK(static_cast<int>(race.samples()) == samples);
    CHECK(race.contenders[0].samples_us.size() == race.contenders[1].samples_us.size());
  }
}

TEST_CASE("a round that a limiter slowed unevenly does not count, but does not go on for ever") {
  constexpr uint64_t kHeat = 0x20;
  for (const bool always : {false, true}) {
    Race race;
    int asked = 0;
    const TakeSample take = [&](const Contender& contender) -> gpu::Result<RoundSample> {
      ++asked;
      gpu::ClockSample clocks;
      const bool slowed = race.is_a(contender) && (always || asked < 3);
      clocks.throttle_reasons = slowed ? kHeat : 0;
      return RoundSample{1, clocks};
    };
    REQUIRE(take_rounds(race.contenders, take, {4, kHeat}));
    CHECK(race.samples() == 4);
    CHECK(asked == 2 * (always ? 8 : 5));
  }
}

}  // namespace
}  // namespace gemmtune::tuner
