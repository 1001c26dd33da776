#include "tuner/session/heats.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tuner/measure/benchmark.h"

namespace gemmtune::tuner {

namespace {

// Of a card's full clock; a limit that takes less than the rest is within what runs differ by.
constexpr double kFullClockShare = 0.97;

// The `count` of least cost among `places`, and all that stay.
template <class Cost, class Stays>
std::vector<size_t> best_and_staying(std::vector<size_t> places, size_t count, Cost cost,
                                     Stays stays) {
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return cost(a) < cost(b); });
  std::vector<size_t> chosen;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i < count || stays(places[i])) chosen.push_back(places[i]);
  }
  return chosen;
}

// After such a turn of ours an H200 ran cuBLASLt's f32 at 1410 to 1680 MHz, 8% slower than alone.
// The limit's memory is some 60 ms, four graphs (docs/decisions/0007-turns.md).
constexpr int kWarmUps = 1;
constexpr int kWarmUpsOfUnlikePower = 4;

}  // namespace

std::vector<size_t> for_final_round(std::span<const HeatTimes> heats) {
  std::vector<size_t> all(heats.size());
  std::iota(all.begin(), all.end(), size_t{0});
  auto chosen = best_and_staying(
      std::move(all), kInFinalRound,
      [&](size_t i) { return heats[i].search_us * heats[i].lasting_us; },
      [&](size_t i) { return heats[i].stays; });
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

double final_sample_us(std::span<const gpu::ClockSample> heats, double full_mhz) {
  const bool full =
      !heats.empty() && std::all_of(heats.begin(), heats.end(), [&](const gpu::ClockSample& read) {
        return read.sm_clock_mhz.value_or(0) >= kFullClockShare * full_mhz;
      });
  return full ? kFullClockSampleUs : kFinalSampleUs;
}

bool draw_unlike_power(MathMode math, std::span<const double> product_us) {
  if (is_split(math)) return true;
  const auto [least, most] = std::minmax_element(product_us.begin(), product_us.end());
  return !product_us.empty() && *most > kFarBehind * *least;
}

int warm_ups(bool unlike_power) {
  return unlike_power ? kWarmUpsOfUnlikePower : kWarmUps;
}

std::vector<size_t> for_further_turns(std::span<const FirstTurns> contenders) {
  std::vector<size_t> chosen;
  for (const bool is_vendor : {false, true}) {
    std::vector<size_t> side;
    for (size_t i = 0; i < contenders.size(); ++i) {
      if (contenders[i].is_vendor == is_vendor) side.push_back(i);
    }
    for (const size_t i : best_and_staying(
             std::move(side), kBeyondFirstTurns,
             [&](size_t place) { return contenders[place].time_us; },
             [&](size_t place) { return contenders[place].stays; })) {
      chosen.push_back(i);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gemmtune::tuner
