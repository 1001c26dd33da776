#include "tuner/session/heats.h"

#include <algorithm>
#include <numeric>

namespace gemmtune::tuner {

std::vector<size_t> for_final_round(std::span<const HeatTimes> heats) {
  std::vector<size_t> order(heats.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return heats[a].search_us * heats[a].lasting_us < heats[b].search_us * heats[b].lasting_us;
  });
  std::vector<size_t> chosen(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                kInFinalRound, order.size())));
  for (size_t i = chosen.size(); i < order.size(); ++i)
    if (heats[order[i]].stays) chosen.push_back(order[i]);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gemmtune::tuner
