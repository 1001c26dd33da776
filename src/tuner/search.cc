#include "tuner/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace gemmtune::tuner {
namespace {

// Parameters that decide a candidate's geometry; the rest (orders, bounds, raster) vary within one.
constexpr std::string_view kGeometry[] = {"tile_m", "tile_n",   "tile_k",   "warp_m",
                                          "warp_n", "thread_m", "thread_n", "stages"};
constexpr size_t kSeedsPerGeometry = 2;
constexpr size_t kBestKept = 8;     // results that random steps start from
constexpr size_t kStepParents = 3;  // results whose one-step neighbours are tried
constexpr int kRandomTries = 200;   // per wanted point

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

// The choice with every parameter but the geometry set to its first value.
Choice geometry_of(const codegen::SearchSpace& space, Choice choice) {
  for (size_t i = 0; i < choice.tile.size(); ++i) {
    if (!is_geometry(space.strategy->parameters()[i])) choice.tile[i] = 0;
  }
  return choice;
}

}  // namespace

Search::Search(std::vector<Space> spaces, uint64_t seed)
    : spaces_(std::move(spaces)), random_(seed) {
  rank_seeds();
}

void Search::rank_seeds() {
  // Of each geometry keep the cheapest points; ties, which are frequent, are broken at random so
  // that parameters the cost function does not see are varied.
  std::map<Choice, std::vector<Ranked>> best;
  std::uniform_real_distribution<double> jitter(1.0, 1.0 + 1e-6);
  for (size_t s = 0; s < spaces_.size(); ++s) {
    const Space& space = spaces_[s];
    const int64_t size = space.space.size();
    for (int64_t i = 0; i < size; ++i) {
      const TileConfig tile = space.space.at(i);
      if (!space.legal(tile)) continue;
      ++legal_points_;
      Choice choice = choice_at(space.space, s, i);
      auto& kept = best[geometry_of(space.space, choice)];
      kept.push_back({space.cost(tile) * jitter(random_), std::move(choice)});
      if (kept.size() > kSeedsPerGeometry) {
        kept.erase(std::max_element(kept.begin(), kept.end(), [](const Ranked& a, const Ranked& b) {
          return a.cost < b.cost;
        }));
      }
    }
  }
  std::vector<Ranked> all;
  for (auto& [geometry, kept] : best) std::move(kept.begin(), kept.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  for (Ranked& ranked : all) seeds_.push_back(std::move(ranked.choice));
}

bool Search::take(const Choice& choice, std::vector<Choice>& out) {
  if (seen_.contains(choice)) return false;
  if (!spaces_[choice.space].legal(tile(choice))) return false;
  seen_.insert(choice);
  out.push_back(choice);
  return true;
}

std::vector<Choice> Search::seeds(size_t count) {
  std::vector<Choice> out;
  while (out.size() < count && next_seed_ < seeds_.size()) take(seeds_[next_seed_++], out);
  return out;
}

void Search::one_step(const Choice& from, size_t count, std::vector<Choice>& out) {
  for (size_t i = 0; i < from.tile.size(); ++i) {
    const auto values = static_cast<int>(spaces_[from.space].space.values[i].size());
    for (int value = 0; value < values && out.size() < count; ++value) {
      Choice next = from;
      next.tile[i] = value;
      take(next, out);
    }
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
