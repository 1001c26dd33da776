// How a search proposes more, once results are in.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "core/parallel.h"
#include "tuner/search/points.h"
#include "tuner/search/search.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kBestKept = 8;           // results that random steps start from
constexpr size_t kStepParents = 3;        // results whose one-step neighbours are tried
constexpr size_t kEnoughSamples = 16;     // to learn from
constexpr size_t kForestParents = 5;      // results whose one-step neighbours the forest is asked
constexpr size_t kForestSteps = 1500;     // random steps that it is asked
constexpr size_t kForestPoints = 2500;    // points from all over the spaces that it is asked
constexpr size_t kChosenPerGeometry = 2;  // in one batch: the rest is often the same machine code
constexpr size_t kLocalShare = 4;         // of a batch, one in so many is plain local search
constexpr size_t kEstimatedAtOnce = 64;   // points that one thread is asked about
// Of the trees' deviation: the whole of it promises 3 to 10% all along.
constexpr double kTrustedDeviation = 0.5;
constexpr double kLeastDeviation = 1e-4;

// What a normal distribution around `lead` is on average above 0, what is below counting as 0.
double expected_improvement(double lead, double deviation) {
  const double z = lead / deviation;
  const double above = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return lead * above + deviation * density;
}

}  // namespace

std::vector<Choice> Search::proposals(size_t count) {
  std::vector<Choice> out;
  if (samples_.size() >= kEnoughSamples) out = most_promising(count - count / kLocalShare);
  if (out.size() < count) {
    const auto more = neighbours(count - out.size());
    out.insert(out.end(), more.begin(), more.end());
  }
  if (out.empty() && !std::exchange(vary_all_, true)) return proposals(count);
  return out;
}

// The point itself if it is legal, else with one more parameter towards its first, most permissive
// value, as near as is legal: twice the depth of a tile wants fewer stages, and work that is not
// sliced the reduction that goes with that. `kept` is not changed.
std::optional<Choice> Search::made_legal(const Choice& choice, size_t kept) const {
  const Space& space = spaces_[choice.space];
  if (space.takes(tile(choice))) return choice;
  for (const size_t i : other_parameters(space.space)) {
    if (i == kept || choice.tile[i] == 0) continue;
    Choice changed = choice;
    changed.tile[i] = 0;
    if (!space.takes(tile(changed))) continue;
    changed.tile[i] = choice.tile[i] - 1;
    while (!space.takes(tile(changed))) --changed.tile[i];
    return changed;
  }
  return std::nullopt;
}

// In random order: a batch is a few of many steps, and each parameter should have its turn.
std::vector<Choice> Search::one_steps(const Choice& from) {
  std::vector<Choice> steps;
  for (size_t i = 0; i < from.tile.size(); ++i) {
    const auto values = static_cast<int>(spaces_[from.space].space.values[i].size());
    for (int value = 0; value < values; ++value) {
      Choice step = from;
      step.tile[i] = value;
      if (auto legal = made_legal(step, i)) steps.push_back(*std::move(legal));
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

// Up to `count` in all.
void Search::random_steps(size_t count, const std::set<Choice>& best, std::vector<Choice>& out) {
  const size_t parents = std::min(kBestKept, results_.size());
  if (parents == 0) return;
  const double limit = limit_us();
  draw(
      count, [&] { take_promising(random_step(parents), best, limit, out); }, out);
}

std::vector<Choice> Search::neighbours(size_t count) {
  std::vector<Choice> out;
  const std::set<Choice> best = best_kernels();
  const double limit = limit_us();
  for (size_t i = 0; i < std::min(kStepParents, results_.size()); ++i) {
    for (const Choice& step : one_steps(results_[i].choice)) {
      if (out.size() == count) return out;
      take_promising(step, best, limit, out);
    }
  }
  random_steps(count, best, out);
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
  for (size_t i = 0; geometries() > 0 && i < kForestPoints; ++i) pool.push_back(random_point());
  pool.insert(pool.end(), favourites_.begin(), favourites_.end());
  pool.insert(pool.end(), compiled_.begin(), compiled_.end());
  for (Choice& choice : pool) choice = in_first_order(choice);
  std::sort(pool.begin(), pool.end());
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  std::erase_if(pool, [this, best = best_kernels()](const Choice& choice) {
    return !worth_trying(choice, best);
  });
  return pool;
}

// By a forest of all samples; nothing for choices that are not new, or cannot win.
std::vector<std::optional<Search::Expectation>> Search::expectations(
    const std::vector<Choice>& choices) {
  RegressionForest::Options options;
  options.threads = threads_;
  const auto forest = RegressionForest::fit(samples_, random_(), options);
  std::vector<std::optional<Expectation>> out(choices.size());
  const double limit = limit_us();
  const size_t parts = (choices.size() + kEstimatedAtOnce - 1) / kEstimatedAtOnce;
  for_each_index(parts, threads_, [&](size_t part) {
    const size_t end = std::min(choices.size(), (part + 1) * kEstimatedAtOnce);
    for (size_t i = part * kEstimatedAtOnce; i < end; ++i) {
      if (!is_new(choices[i])) continue;
      const double us = expected_us(choices[i]);
      if (cannot_win(choices[i], us, limit)) continue;
      const auto off = forest.estimate(spaces_[choices[i].space].features(tile(choices[i])));
      out[i] = {std::log(us) + off.mean, off.deviation};
    }
  });
  return out;
}

// The choice with all that is not geometry at its first value.
Choice Search::geometry_of(Choice choice) const {
  for (const size_t i : other_parameters(spaces_[choice.space].space)) choice.tile[i] = 0;
  return choice;
}

std::vector<Choice> Search::most_promising(size_t count) {
  std::vector<Choice> asked = pool();
  const auto expected = expectations(asked);
  std::vector<Ranked> by_mean;
  std::vector<Ranked> by_bound;
  const double best = results_.empty() ? 0 : std::log(results_.front().cost);
  expected_gain_ = results_.empty() ? 1 : 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (!expected[i]) continue;
    const auto [mean, deviation] = *expected[i];
    expected_gain_ = std::max(
        expected_gain_, expected_improvement(
                            best - mean, std::max(kTrustedDeviation * deviation, kLeastDeviation)));
    const double cost = mean - worth_of_code(asked[i]);
    by_mean.push_back({cost, asked[i]});
    by_bound.push_back({cost - deviation, std::move(asked[i])});
  }
  return cheapest_in_turns(std::move(by_mean), std::move(by_bound), count);
}

// From one ranking and the other in turn, few of each geometry.
std::vector<Choice> Search::cheapest_in_turns(std::vector<Ranked> first, std::vector<Ranked> second,
                                              size_t count) {
  const auto cheaper = [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; };
  std::stable_sort(first.begin(), first.end(), cheaper);
  std::stable_sort(second.begin(), second.end(), cheaper);
  const std::set<Choice> varied = best_kernels();
  std::vector<Choice> out;
  std::map<Choice, size_t> chosen;  // of each geometry
  const auto take_next = [&](const std::vector<Ranked>& ranked, size_t& at) {
    while (at < ranked.size()) {
      const Choice& choice = ranked[at++].choice;
      size_t& used = chosen[geometry_of(choice)];
      if (used == kChosenPerGeometry || !worth_trying(choice, varied)) continue;
      if (!take(choice, out)) continue;
      ++used;
      return;
    }
  };
  size_t next[] = {0, 0};
  for (bool turn = false; out.size() < count; turn = !turn) {
    if (next[0] >= first.size() && next[1] >= second.size()) break;
    take_next(turn ? second : first, next[turn ? 1 : 0]);
  }
  return out;
}

}  // namespace gemmtune::tuner
