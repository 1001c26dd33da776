#include "tuner/measure/rounds.h"

#include <doctest/doctest.h>

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

TEST_CASE("every other round goes the other way, if asked for") {
  Race race;
  REQUIRE(take_rounds(race.contenders, race.take, {3, 0, true}));
  CHECK(race.order == "abbaab");
  CHECK(race.contenders[0].samples_us == std::vector<double>{1, 4, 5});
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
