#include "tuner/measure/rounds.h"

#include <algorithm>
#include <numeric>

namespace gemmtune::tuner {
namespace {

// Whether a limiter of `kinds` acted on some samples of the round and not on others.
bool unevenly_slowed(const std::vector<RoundSample>& round, uint64_t kinds) {
  uint64_t any = 0;
  uint64_t all = ~uint64_t{0};
  for (const RoundSample& sample : round) {
    const uint64_t reasons = sample.clocks ? sample.clocks->throttle_reasons.value_or(0) : 0;
    any |= reasons & kinds;
    all &= reasons;
  }
  return any != (all & kinds);
}

void keep(const std::vector<RoundSample>& round, std::span<Contender> contenders) {
  for (size_t i = 0; i < contenders.size(); ++i) {
    contenders[i].samples_us.push_back(round[i].time_us);
    if (round[i].clocks) contenders[i].clocks.push_back(*round[i].clocks);
  }
}

// How many places on the next contender is, so that all have their turn: near the golden section,
// of which no few steps come back to a neighbour.
size_t spread_step(size_t count) {
  auto step = std::max<size_t>(1, static_cast<size_t>(0.382 * static_cast<double>(count)));
  while (std::gcd(step, count) != 1) ++step;
  return step;
}

std::vector<size_t> in_order(size_t count) {
  std::vector<size_t> places(count);
  std::iota(places.begin(), places.end(), size_t{0});
  return places;
}

}  // namespace

std::vector<size_t> spread_order(size_t count, int round) {
  if (count == 0) return {};
  const size_t step = spread_step(count);
  const size_t begin = static_cast<size_t>(round) * ((count + 2) / 3);
  std::vector<size_t> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = (begin + i) * step % count;
  return places;
}

gpu::Result<std::vector<RoundSample>> take_round(std::span<const Contender> contenders,
                                                 const TakeSample& take,
                                                 std::span<const size_t> order) {
  std::vector<RoundSample> round(contenders.size());
  for (const size_t place : order) {
    auto sample = take(contenders[place]);
    if (!sample) return tl::unexpected(sample.error());
    round[place] = *sample;
  }
  return round;
}

gpu::Result<void> take_rounds(std::span<Contender> contenders, const TakeSample& take,
                              const Rounds& rounds) {
  if (contenders.empty()) return {};
  auto kept = static_cast<int>(contenders.front().samples_us.size());
  int dropped = 0;
  while (kept < rounds.samples) {
    const std::vector<size_t> order = rounds.spread
                                          ? spread_order(contenders.size(), kept + dropped)
                                          : in_order(contenders.size());
    auto round = take_round(contenders, take, order);
    if (!round) return tl::unexpected(round.error());
    if (unevenly_slowed(*round, rounds.limiters) && dropped < rounds.samples) {
      ++dropped;
    } else {
      ++kept;
      keep(*round, contenders);
    }
    if (kept >= rounds.fewest && rounds.time_is_up && rounds.time_is_up()) break;
  }
  return {};
}

}  // namespace gemmtune::tuner
