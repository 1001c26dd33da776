#include "tuner/search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

namespace gemmtune::tuner {
namespace {

// Parameters that decide a candidate's geometry; the rest (orders, bounds, raster) vary within one.
constexpr std::string_view kGeometry[] = {"tile_m", "tile_n",   "tile_k",   "warp_m",
                                          "warp_n", "thread_m", "thread_n", "stages"};
constexpr size_t kSeedsPerGeometry = 2;
constexpr double kContender = 1.15;  // times the best predicted cost
constexpr size_t kBestKept = 8;      // results that random steps start from
constexpr size_t kStepParents = 3;   // results whose one-step neighbours are tried
constexpr int kRandomTries = 200;    // per wanted point

bool is_geometry(std::string_view name) {
  return std::find(std::begin(kGeometry), std::end(kGeometry), name) != std::end(kGeometry);
}

Choice choice_at(const codegen::SearchSpace& space, size_t index_of_space, int64_t index) {
  Choice choice{index_of_space, {}};
  for (const auto& list : space.values) {
    const auto count = static_cast<int64_t>(list.size());
    choice.tile.push_back(static_cast<int>(index % count));
    index /= count;
  }
  return choice;
}

}  // namespace

// A space as geometries times variants: the parameters of a geometry and all others, each numbered
// on its own.
struct Search::SplitSpace {
  explicit SplitSpace(const codegen::SearchSpace& space) : counts(space.values.size()) {
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] = static_cast<int64_t>(space.values[i].size());
      geometric.push_back(is_geometry(space.strategy->parameters()[i]));
      (geometric[i] ? geometries : variants) *= counts[i];
    }
  }

  // The space's own index of a point.
  int64_t index(int64_t geometry, int64_t variant) const {
    int64_t index = 0;
    int64_t weight = 1;
    for (size_t i = 0; i < counts.size(); ++i) {
      int64_t& rest = geometric[i] ? geometry : variant;
      index += rest % counts[i] * weight;
      rest /= counts[i];
      weight *= counts[i];
    }
    return index;
  }

  std::vector<int64_t> counts;
  std::vector<bool> geometric;
  int64_t geometries = 1;
  int64_t variants = 1;
};

Search::Search(std::vector<Space> spaces, uint64_t seed)
    : spaces_(std::move(spaces)), random_(seed) {
  rank_seeds();
}

// Everything but the geometry at its first, most permissive value: if that is illegal, so is the
// rest.
bool Search::any_legal(const codegen::SearchSpace& space,
                       const std::function<bool(const TileConfig&)>& legal) {
  const SplitSpace split(space);
  for (int64_t g = 0; g < split.geometries; ++g) {
    if (legal(space.at(split.index(g, 0)))) return true;
  }
  return false;
}

// Keeps the cheapest points of each geometry. Ties, which are frequent, are broken at random so
// that parameters the cost function does not see are varied.
void Search::rank_seeds() {
  std::vector<Ranked> all;
  for (size_t s = 0; s < spaces_.size(); ++s) {
    const SplitSpace split(spaces_[s].space);
    for (int64_t g = 0; g < split.geometries; ++g) {
      // As in any_legal().
      if (!spaces_[s].legal(spaces_[s].space.at(split.index(g, 0)))) continue;
      rank_geometry(s, split, g, all);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  deal_seeds(all);
}

// Deals the ranked points out to strategies and thread tiles in turn: the cost function orders the
// tiles of one such family better than it compares families (an 8x8 thread tile may beat the 16x8
// that it likes more). A family whose best point is far behind waits for the end.
void Search::deal_seeds(const std::vector<Ranked>& ranked) {
  std::map<std::tuple<size_t, int, int>, size_t> family_of;
  std::vector<std::deque<const Ranked*>> hands;  // in the order of their best points
  for (const Ranked& point : ranked) {
    const TileConfig t = tile(point.choice);
    const auto [family, added] =
        family_of.try_emplace({point.choice.space, t.thread_m, t.thread_n}, hands.size());
    if (added) hands.emplace_back();
    hands[family->second].push_back(&point);
  }
  const double best = ranked.empty() ? 0 : ranked.front().cost;
  for (const double limit : {kContender * best, static_cast<double>(INFINITY)}) {
    for (bool dealt = true; dealt;) {
      dealt = false;
      for (auto& hand : hands) {
        if (hand.empty() || hand.front()->cost > limit) continue;
        seeds_.push_back(hand.front()->choice);
        hand.pop_front();
        dealt = true;
      }
    }
  }
}

void Search::rank_geometry(size_t s, const SplitSpace& split, int64_t geometry,
                           std::vector<Ranked>& all) {
  const Space& space = spaces_[s];
  std::uniform_real_distribution<double> jitter(1.0, 1.0 + 1e-6);
  std::vector<Ranked> kept;
  for (int64_t v = 0; v < split.variants; ++v) {
    const int64_t index = split.index(geometry, v);
    const TileConfig tile = space.space.at(index);
    if (!space.legal(tile)) continue;
    ++legal_points_;
    const double cost = space.cost(tile) * jitter(random_);
    if (kept.size() == kSeedsPerGeometry && cost >= kept.back().cost) continue;
    if (kept.size() == kSeedsPerGeometry) kept.pop_back();
    kept.push_back({cost, choice_at(space.space, s, index)});
    std::sort(kept.begin(), kept.end(),
              [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(all));
}

bool Search::take(const Choice& choice, std::vector<Choice>& out) {
  if (seen_.contains(choice)) return false;
  if (!spaces_[choice.space].legal(tile(choice))) return false;
  seen_.insert(choice);
  out.push_back(choice);
  return true;
}

void Search::suggest(const Choice& choice) {
  suggested_ = std::max(suggested_, next_seed_);
  seeds_.insert(seeds_.begin() + static_cast<std::ptrdiff_t>(suggested_++), choice);
}

std::vector<Choice> Search::seeds(size_t count) {
  std::vector<Choice> out;
  while (out.size() < count && next_seed_ < seeds_.size()) take(seeds_[next_seed_++], out);
  return out;
}

// In random order: a batch is a few of many steps, and each parameter should have its turn.
void Search::one_step(const Choice& from, size_t count, std::vector<Choice>& out) {
  std::vector<Choice> steps;
  for (size_t i = 0; i < from.tile.size(); ++i) {
    const auto values = static_cast<int>(spaces_[from.space].space.values[i].size());
    for (int value = 0; value < values; ++value) {
      steps.push_back(from);
      steps.back().tile[i] = value;
    }
  }
  std::shuffle(steps.begin(), steps.end(), random_);
  for (const Choice& step : steps) {
    if (out.size() == count) return;
    take(step, out);
  }
}

void Search::random_steps(size_t count, std::vector<Choice>& out) {
  const size_t parents = std::min(kBestKept, results_.size());
  if (parents == 0) return;
  const auto below = [this](size_t n) { return static_cast<size_t>(random_() % n); };
  for (int tries = 0; tries < kRandomTries * static_cast<int>(count) && out.size() < count;
       ++tries) {
    Choice next = results_[below(parents)].choice;
    const size_t changes = 2 + below(2);
    for (size_t c = 0; c < changes; ++c) {
      const size_t i = below(next.tile.size());
      next.tile[i] = static_cast<int>(below(spaces_[next.space].space.values[i].size()));
    }
    take(next, out);
  }
}

std::vector<Choice> Search::neighbours(size_t count) {
  std::vector<Choice> out;
  for (size_t i = 0; i < std::min(kStepParents, results_.size()) && out.size() < count; ++i) {
    if (std::isfinite(results_[i].cost)) one_step(results_[i].choice, count, out);
  }
  random_steps(count, out);
  return out;
}

void Search::report(const Choice& choice, double time_us) {
  seen_.insert(choice);
  if (!std::isfinite(time_us)) return;
  const auto at =
      std::upper_bound(results_.begin(), results_.end(), time_us,
                       [](double time, const Ranked& ranked) { return time < ranked.cost; });
  results_.insert(at, {time_us, choice});
}

std::optional<Choice> Search::find(std::string_view strategy, const TileConfig& wanted) const {
  for (size_t s = 0; s < spaces_.size(); ++s) {
    const codegen::SearchSpace& space = spaces_[s].space;
    if (space.strategy->name() != strategy) continue;
    Choice choice{s, {}};
    for (size_t i = 0; i < space.values.size(); ++i) {
      const auto& values = space.values[i];
      const auto at = std::find(values.begin(), values.end(), wanted.*space.members[i]);
      if (at == values.end()) return std::nullopt;
      choice.tile.push_back(static_cast<int>(at - values.begin()));
    }
    if (tile(choice) == wanted) return choice;
  }
  return std::nullopt;
}

TileConfig Search::tile(const Choice& choice) const {
  const codegen::SearchSpace& space = spaces_[choice.space].space;
  TileConfig tile;
  for (size_t i = 0; i < choice.tile.size(); ++i) {
    tile.*space.members[i] = space.values[i][static_cast<size_t>(choice.tile[i])];
  }
  return tile;
}

}  // namespace gemmtune::tuner
