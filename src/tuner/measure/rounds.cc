#include "tuner/measure/rounds.h"

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

}  // namespace

gpu::Result<std::vector<RoundSample>> take_round(std::span<const Contender> contenders,
                                                 const TakeSample& take, bool last_first) {
  std::vector<RoundSample> round(contenders.size());
  for (size_t i = 0; i < contenders.size(); ++i) {
    const size_t place = last_first ? contenders.size() - 1 - i : i;
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
    auto round = take_round(contenders, take, rounds.both_ways && (kept + dropped) % 2 == 1);
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
