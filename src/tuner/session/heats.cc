#include "tuner/session/heats.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gemmtune::tuner {

namespace {

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

// Of a median's interval of 95%, as a share of the median.
constexpr double kWidestInterval = 0.01;

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

bool needs_more_turns(std::span<const AllTurns> contenders) {
  for (const bool is_vendor : {false, true}) {
    const AllTurns* fastest = nullptr;
    for (const AllTurns& contender : contenders) {
      if (contender.is_vendor != is_vendor) continue;
      if (!fastest || contender.time_us.median < fastest->time_us.median) fastest = &contender;
    }
    if (!fastest) continue;
    const MedianInterval& time = fastest->time_us;
    if (time.high - time.low > kWidestInterval * time.median) return true;
  }
  return false;
}

}  // namespace gemmtune::tuner
