// The points that a search with a calibration begins with.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/parallel.h"
#include "tuner/search/search.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kRanked = 2048;   // points of the ranking that a calibration orders anew
constexpr size_t kFavourites = 8;  // of each strategy, whose steps it is asked about, too, ...
constexpr int kStepRounds = 6;     // ... so often
constexpr size_t kForestFavourites = 500;  // that a search's forest is asked about
constexpr size_t kPricedAtOnce = 64;

}  // namespace

// Adds those choices that are not in it yet with what the calibration expects of them.
void Search::Shortlist::add(const Search& search, const std::vector<Choice>& choices) {
  const size_t known = by_cost.size();
  for (const Choice& choice : choices) {
    if (added.insert(choice).second) by_cost.push_back({0, choice});
  }
  const size_t parts = (by_cost.size() - known + kPricedAtOnce - 1) / kPricedAtOnce;
  for_each_index(parts, search.threads_, [&](size_t part) {
    const size_t begin = known + part * kPricedAtOnce;
    for (size_t i = begin; i < std::min(by_cost.size(), begin + kPricedAtOnce); ++i)
      by_cost[i].cost = search.expected_us(by_cost[i].choice);
  });
  sort();
}

void Search::Shortlist::sort() {
  std::stable_sort(by_cost.begin(), by_cost.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
}

// Of each space the first ones, and the first one with each value of each parameter, whose steps
// were not asked for. From the best alone, a kernel that shares out its work in another way is more
// than one step away, and the steps between are slow: sums over more blocks, or over more warps.
std::vector<Choice> Search::Shortlist::favourites(size_t spaces) {
  std::vector<size_t> of_space(spaces);
  std::set<std::tuple<size_t, size_t, int>> met;  // spaces, parameters and values
  std::vector<Choice> chosen;
  for (const Ranked& one : by_cost) {
    const auto& [space, tile] = one.choice;
    bool is_favourite = ++of_space[space] <= kFavourites;
    for (size_t i = 0; i < tile.size(); ++i) is_favourite |= met.emplace(space, i, tile[i]).second;
    if (is_favourite && stepped_from.insert(one.choice).second) chosen.push_back(one.choice);
  }
  return chosen;
}

// What the calibration likes best of the ranking's first points, and of what is one step from those
// that it likes best: of a geometry the ranking gives two points, and a calibration may know others
// to be faster.
Search::Shortlist Search::shortlist(const std::vector<Choice>& ranked) {
  Shortlist list;
  list.add(*this, ranked);
  for (int round = 0; round < kStepRounds; ++round) {
    std::vector<Choice> steps;
    for (const Choice& from : list.favourites(spaces_.size())) {
      for (const Choice& step : one_steps(from)) {
        const Choice choice = in_first_order(step);
        if (!list.added.contains(choice) && is_new(choice)) steps.push_back(choice);
      }
    }
    list.add(*this, steps);
  }
  return list;
}

// The ranking keeps every other place: what it likes resembles what was measured before, where the
// calibration is sure.
void Search::make_shortlist() {
  if (std::exchange(shortlisted_, true) || !is_calibrated()) return;
  std::vector<Choice> ranked;
  std::set<Choice> met;
  while (ranked.size() < kRanked) {
    const auto next = ranking_.next();
    if (!next) break;
    const Choice choice = in_first_order(*next);
    if (met.insert(choice).second) ranked.push_back(choice);
  }
  Shortlist list = shortlist(ranked);
  std::vector<Choice> compiled;
  std::copy_if(compiled_.begin(), compiled_.end(), std::back_inserter(compiled),
               [this](const Choice& choice) { return is_new(choice); });
  list.add(*this, compiled);
  for (Ranked& one : list.by_cost) {
    if (spaces_[one.choice.space].calibrated)
      least_expected_us_ = std::min(least_expected_us_, one.cost);
    one.cost *= std::exp(-worth_of_code(one.choice));
  }
  list.sort();
  std::vector<Choice> best;
  best.reserve(list.by_cost.size());
  for (Ranked& one : list.by_cost) best.push_back(std::move(one.choice));
  add_in_turns(best, order_ == RankingOrder::cheapest_first ? best : ranked);
  best.resize(std::min(best.size(), kForestFavourites));
  favourites_ = std::move(best);
}

// Adds to the seeds what both hold, from each in its turn what the other has not given yet.
void Search::add_in_turns(const std::vector<Choice>& first, const std::vector<Choice>& second) {
  std::set<Choice> added;
  const auto add_next = [&](const std::vector<Choice>& from, size_t& at) {
    while (at < from.size() && !added.insert(from[at]).second) ++at;
    if (at < from.size()) seeds_.push_back(from[at++]);
  };
  size_t next[] = {0, 0};
  while (next[0] < first.size() || next[1] < second.size()) {
    add_next(first, next[0]);
    add_next(second, next[1]);
  }
}

}  // namespace gemmtune::tuner
