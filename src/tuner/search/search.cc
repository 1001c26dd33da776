#include "tuner/search/search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>

#include "core/parallel.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kSeedsPerGeometry = 2;
constexpr double kContender = 1.15;       // times the best predicted cost
constexpr size_t kBestKept = 8;           // results that random steps start from
constexpr size_t kStepParents = 3;        // results whose one-step neighbours are tried
constexpr int kRandomTries = 200;         // per wanted point
constexpr size_t kEnoughSamples = 48;     // to learn from
constexpr size_t kForestParents = 5;      // results whose one-step neighbours the forest is asked
constexpr size_t kForestSteps = 1500;     // random steps that it is asked
constexpr size_t kForestPoints = 2500;    // points from all over the spaces that it is asked
constexpr size_t kChosenPerGeometry = 2;  // in one batch: the rest is often the same machine code
constexpr size_t kLocalShare = 4;         // of a batch, one in so many is plain local search
constexpr float kFailureValue = 2;        // logarithm of a time over the ideal

bool is_geometry(const codegen::SearchSpace& space, size_t parameter) {
  return space.strategy->is_geometry(space.strategy->parameters()[parameter]);
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
      geometric.push_back(is_geometry(space, i));
      if (geometric[i]) geometries *= counts[i];
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
};

// The variants of a geometry in their order: a step changes what differs, and divides nothing.
class Search::Variants {
 public:
  Variants(const codegen::SearchSpace& space, const SplitSpace& split, int64_t geometry)
      : space_(space),
        split_(split),
        at_(split.counts.size()),
        index_(split.index(geometry, 0)),
        tile_(space.at(index_)) {}

  int64_t index() const { return index_; }  // the space's own
  const TileConfig& tile() const { return tile_; }

  // False behind the last one.
  bool next() {
    int64_t weight = 1;
    for (size_t i = 0; i < at_.size(); weight *= split_.counts[i++]) {
      if (split_.geometric[i]) continue;
      const bool last = at_[i] + 1 == split_.counts[i];
      const int64_t step = last ? -at_[i] : 1;
      at_[i] += step;
      index_ += step * weight;
      tile_.*space_.members[i] = space_.values[i][static_cast<size_t>(at_[i])];
      if (!last) return true;
    }
    return false;
  }

 private:
  const codegen::SearchSpace& space_;
  const SplitSpace& split_;
  std::vector<int64_t> at_;  // for each parameter, which of its values
  int64_t index_;
  TileConfig tile_;
};

Search::Search(std::vector<Space> spaces, uint64_t seed, double ideal_us, int threads)
    : spaces_(std::move(spaces)), random_(seed), ideal_us_(ideal_us) {
  rank_seeds(threads);
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

void Search::rank_seeds(int threads) {
  std::vector<SplitSpace> splits;
  std::vector<std::pair<size_t, int64_t>> geometries;  // of which space
  for (size_t s = 0; s < spaces_.size(); ++s) {
    splits.emplace_back(spaces_[s].space);
    for (int64_t g = 0; g < splits[s].geometries; ++g) geometries.emplace_back(s, g);
  }
  const uint64_t seed = random_();
  std::vector<RankedGeometry> ranked(geometries.size());
  const auto rank = [&](size_t i) {
    const auto [s, g] = geometries[i];
    ranked[i] = rank_geometry(s, splits[s], g, seed + i);
  };
  for_each_index(geometries.size(), threads, rank);
  std::vector<Ranked> all;
  for (RankedGeometry& geometry : ranked) {
    legal_points_ += geometry.legal_points;
    std::move(geometry.best.begin(), geometry.best.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  deal_seeds(all);
}

// Deals the ranked points out to strategies and thread tiles (warp tiles on tensor cores) in turn:
// the cost function orders the tiles of one such family better than it compares families (an 8x8
// thread tile may beat the 16x8 that it likes more). A family whose best point is far behind waits
// for the end.
void Search::deal_seeds(const std::vector<Ranked>& ranked) {
  std::map<std::pair<size_t, std::pair<int, int>>, size_t> family_of;
  std::vector<std::deque<const Ranked*>> hands;  // in the order of their best points
  for (const Ranked& point : ranked) {
    const size_t space = point.choice.space;
    const auto& results_of = spaces_[space].results;
    const auto results = results_of ? results_of(tile(point.choice)) : std::pair(0, 0);
    const auto [family, added] = family_of.try_emplace({space, results}, hands.size());
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

// Keeps the cheapest points. Ties, which are frequent, are broken at random so that parameters the
// cost function does not see are varied.
Search::RankedGeometry Search::rank_geometry(size_t s, const SplitSpace& split, int64_t geometry,
                                             uint64_t seed) const {
  const Space& space = spaces_[s];
  RankedGeometry out;
  Variants variants(space.space, split, geometry);
  // As in any_legal().
  if (!space.legal(variants.tile())) return out;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> jitter(1.0, 1.0 + 1e-6);
  std::vector<Ranked>& kept = out.best;
  do {
    if (!space.legal(variants.tile())) continue;
    ++out.legal_points;
    const double cost = space.cost(variants.tile()) * jitter(random);
    if (kept.size() == kSeedsPerGeometry && cost >= kept.back().cost) continue;
    if (kept.size() == kSeedsPerGeometry) kept.pop_back();
    kept.push_back({cost, choice_at(space.space, s, variants.index())});
    std::sort(kept.begin(), kept.end(),
              [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  } while (variants.next());
  return out;
}

bool Search::is_new(const Choice& choice) const {
  return !seen_.contains(choice) && spaces_[choice.space].legal(tile(choice));
}

bool Search::take(const Choice& choice, std::vector<Choice>& out) {
  if (!is_new(choice)) return false;
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

std::vector<Choice> Search::first_seeds(size_t count) {
  std::vector<Choice> out;
  while (next_seed_ < std::min(count, seeds_.size())) take(seeds_[next_seed_++], out);
  return out;
}

// In random order: a batch is a few of many steps, and each parameter should have its turn.
std::vector<Choice> Search::one_steps(const Choice& from) {
  std::vector<Choice> steps;
  for (size_t i = 0; i < from.tile.size(); ++i) {
    const auto values = static_cast<int>(spaces_[from.space].space.values[i].size());
    for (int value = 0; value < values; ++value) {
      steps.push_back(from);
      steps.back().tile[i] = value;
    }
  }
  std::shuffle(steps.begin(), steps.end(), random_);
  return steps;
}

// Two or three parameters of one of the best `parents` results, changed.
Choice Search::random_step(size_t parents) {
  const auto below = [this](size_t n) { return static_cast<size_t>(random_() % n); };
  Choice next = results_[below(parents)].choice;
  const size_t changes = 2 + below(2);
  for (size_t c = 0; c < changes; ++c) {
    const size_t i = below(next.tile.size());
    next.tile[i] = static_cast<int>(below(spaces_[next.space].space.values[i].size()));
  }
  return next;
}

// A geometry from all over the spaces with its other parameters at random.
Choice Search::random_point() {
  Choice point = seeds_[static_cast<size_t>(random_() % seeds_.size())];
  const codegen::SearchSpace& space = spaces_[point.space].space;
  for (size_t i = 0; i < point.tile.size(); ++i) {
    if (is_geometry(space, i)) continue;
    point.tile[i] = static_cast<int>(random_() % space.values[i].size());
  }
  return point;
}

void Search::random_steps(size_t count, std::vector<Choice>& out) {
  const size_t parents = std::min(kBestKept, results_.size());
  if (parents == 0) return;
  for (int tries = 0; tries < kRandomTries * static_cast<int>(count) && out.size() < count;
       ++tries) {
    take(random_step(parents), out);
  }
}

std::vector<Choice> Search::proposals(size_t count) {
  if (samples_.size() < kEnoughSamples) return neighbours(count);
  std::vector<Choice> out = most_promising(count - count / kLocalShare);
  if (out.size() < count) {
    const auto more = neighbours(count - out.size());
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<Choice> Search::neighbours(size_t count) {
  std::vector<Choice> out;
  for (size_t i = 0; i < std::min(kStepParents, results_.size()); ++i) {
    for (const Choice& step : one_steps(results_[i].choice)) {
      if (out.size() == count) return out;
      take(step, out);
    }
  }
  random_steps(count, out);
  return out;
}

// What the forest is asked about, each once.
std::vector<Choice> Search::pool() {
  std::vector<Choice> pool;
  for (size_t i = 0; i < std::min(kForestParents, results_.size()); ++i) {
    const auto steps = one_steps(results_[i].choice);
    pool.insert(pool.end(), steps.begin(), steps.end());
  }
  const size_t parents = std::min(kBestKept, results_.size());
  for (size_t i = 0; parents > 0 && i < kForestSteps; ++i) pool.push_back(random_step(parents));
  for (size_t i = 0; !seeds_.empty() && i < kForestPoints; ++i) pool.push_back(random_point());
  std::sort(pool.begin(), pool.end());
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  std::erase_if(pool, [this](const Choice& choice) { return !is_new(choice); });
  return pool;
}

// The choice with all that is not geometry at its first value.
Choice Search::geometry_of(Choice choice) const {
  const codegen::SearchSpace& space = spaces_[choice.space].space;
  for (size_t i = 0; i < choice.tile.size(); ++i) {
    if (!is_geometry(space, i)) choice.tile[i] = 0;
  }
  return choice;
}

std::vector<Choice> Search::most_promising(size_t count) {
  const auto forest = RegressionForest::fit(samples_, random_());
  std::vector<Choice> asked = pool();
  std::vector<Ranked> by_mean;
  std::vector<Ranked> by_bound;
  for (Choice& choice : asked) {
    const auto estimate = forest.estimate(spaces_[choice.space].features(tile(choice)));
    by_mean.push_back({estimate.mean, choice});
    by_bound.push_back({estimate.mean - estimate.deviation, std::move(choice)});
  }
  const auto cheaper = [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; };
  std::stable_sort(by_mean.begin(), by_mean.end(), cheaper);
  std::stable_sort(by_bound.begin(), by_bound.end(), cheaper);

  std::vector<Choice> out;
  std::map<Choice, size_t> chosen;  // of each geometry
  size_t next[] = {0, 0};
  for (size_t turn = 0; out.size() < count; turn = 1 - turn) {
    const auto& ranked = turn == 0 ? by_mean : by_bound;
    size_t& at = next[turn];
    if (next[0] >= by_mean.size() && next[1] >= by_bound.size()) break;
    while (at < ranked.size()) {
      const Choice& choice = ranked[at++].choice;
      size_t& used = chosen[geometry_of(choice)];
      if (used < kChosenPerGeometry && take(choice, out)) {
        ++used;
        break;
      }
    }
  }
  return out;
}

void Search::learn(std::vector<Sample> samples) {
  std::move(samples.begin(), samples.end(), std::back_inserter(samples_));
}

float Search::value_of(double time_us, double ideal_us) {
  if (!std::isfinite(time_us)) return kFailureValue;
  return std::min(kFailureValue, static_cast<float>(std::log(time_us / ideal_us)));
}

void Search::report(const Choice& choice, double time_us) {
  seen_.insert(choice);
  const Space& space = spaces_[choice.space];
  if (space.features) {
    samples_.push_back({space.features(tile(choice)), value_of(time_us, ideal_us_)});
  }
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
