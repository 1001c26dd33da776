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

// A side's fastest, where its median is not known so well, and those that may be as fast.
std::vector<size_t> unsure(std::span<const AllTurns> contenders, bool is_vendor) {
  const MedianInterval* fastest = nullptr;
  for (const AllTurns& contender : contenders) {
    const MedianInterval& time = contender.time_us;
    if (contender.is_vendor == is_vendor && (!fastest || time.median < fastest->median))
      fastest = &time;
  }
  std::vector<size_t> places;
  if (!fastest || fastest->high - fastest->low <= kWidestInterval * fastest->median) return places;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (contenders[i].is_vendor == is_vendor && contenders[i].time_us.low <= fastest->high)
      places.push_back(i);
  }
  return places;
}

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

std::vector<size_t> for_more_turns(std::span<const AllTurns> contenders) {
  std::vector<size_t> due;
  for (const bool is_vendor : {false, true}) {
    for (const size_t place : unsure(contenders, is_vendor)) due.push_back(place);
  }
  int fewest = kMostTurns - 1;
  for (const size_t place : due) fewest = std::min(fewest, contenders[place].time_us.count);
  std::erase_if(due, [&](size_t place) { return contenders[place].time_us.count != fewest; });
  std::sort(due.begin(), due.end());
  return due;
}

}  // namespace gemmtune::tuner
