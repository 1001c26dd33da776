#include "tuner/search/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/parallel.h"
#include "tuner/search/points.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kBestKept = 8;           // results that random steps start from
constexpr size_t kStepParents = 3;        // results whose one-step neighbours are tried
constexpr int kRandomTries = 200;         // per wanted point
constexpr size_t kEnoughSamples = 16;     // to learn from
constexpr size_t kForestParents = 5;      // results whose one-step neighbours the forest is asked
constexpr size_t kForestSteps = 1500;     // random steps that it is asked
constexpr size_t kForestPoints = 2500;    // points from all over the spaces that it is asked
constexpr size_t kChosenPerGeometry = 2;  // in one batch: the rest is often the same machine code
constexpr size_t kLocalShare = 4;         // of a batch, one in so many is plain local search
constexpr size_t kEstimatedAtOnce = 64;   // points that one thread is asked about
constexpr size_t kShortlist = 512;        // points of the ranking that a calibration orders anew
constexpr float kFailureValue = 2;        // logarithm of a time over the expected one
// By how much, in logarithms of times, a kernel has to promise more than one whose machine code is
// at hand: NVRTC takes about four times as long as measuring.
constexpr double kWorthOfCode = 0.03;
// Of the trees' deviation: the whole of it promises 3 to 10% all along.
constexpr double kTrustedDeviation = 0.5;
constexpr double kLeastDeviation = 1e-4;

bool calibrated(std::span<const SearchedSpace> spaces) {
  return std::any_of(spaces.begin(), spaces.end(), [](const SearchedSpace& space) {
    return static_cast<bool>(space.calibrated);
  });
}

// What a normal distribution around `lead` is on average above 0, what is below counting as 0.
double expected_improvement(double lead, double deviation) {
  const double z = lead / deviation;
  const double above = 0.5 * std::erfc(-z / std::numbers::sqrt2);
  const double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return lead * above + deviation * density;
}

}  // namespace

Search::Search(std::vector<Space> spaces, uint64_t seed, int threads, RankingOrder order)
    : spaces_(std::move(spaces)),
      threads_(threads),
      random_(seed),
      order_(order),
      ranking_(spaces_, random_(), threads, calibrated(spaces_) ? RankingOrder::in_turns : order) {}

// Everything but the geometry at its first, most permissive value: if that is illegal, so is the
// rest.
bool Search::any_legal(const codegen::SearchSpace& space,
                       const std::function<bool(const TileConfig&)>& legal) {
  const auto& first = space.values[geometry_parameters(space).front()];
  for (size_t i = 0; i < first.size(); ++i) {
    const bool none = visit_geometries(space, 0, static_cast<int>(i),
                                       [&](const Points& points) { return !legal(points.tile()); });
    if (!none) return true;
  }
  return false;
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

double Search::expected_us(const Choice& choice) const {
  const Space& space = spaces_[choice.space];
  return (space.calibrated ? space.calibrated : space.cost)(tile(choice));
}

// To be taken off the logarithm of what is expected.
double Search::worth_of_code(const Choice& choice) const {
  return compiled_.contains(choice) ? kWorthOfCode : 0;
}

// The ranking's first points, as many as a calibration orders anew. The ranking keeps every other
// place: what it likes resembles what was measured before, where the calibration is sure.
void Search::make_shortlist() {
  if (std::exchange(shortlisted_, true) || !calibrated(spaces_)) return;
  std::vector<Choice> ranked;
  std::vector<Ranked> by_cost;
  const auto add = [&](const Choice& choice) {
    by_cost.push_back({expected_us(choice) * std::exp(-worth_of_code(choice)), choice});
  };
  while (ranked.size() < kShortlist) {
    auto next = ranking_.next();
    if (!next) break;
    add(*next);
    ranked.push_back(*std::move(next));
  }
  for (const Choice& choice : compiled_) {
    if (is_new(choice)) add(choice);
  }
  std::stable_sort(by_cost.begin(), by_cost.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  std::vector<Choice> best;
  best.reserve(by_cost.size());
  for (Ranked& one : by_cost) best.push_back(std::move(one.choice));
  add_in_turns(best, order_ == RankingOrder::cheapest_first ? best : ranked);
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

// Whether there is a seed of that number; asks the ranking for it.
bool Search::have_seed(size_t index) {
  if (seeds_.size() <= index) make_shortlist();
  while (seeds_.size() <= index) {
    auto next = ranking_.next();
    if (!next) return false;
    seeds_.push_back(*std::move(next));
  }
  return true;
}

std::vector<Choice> Search::seeds(size_t count) {
  std::vector<Choice> out;
  while (out.size() < count && have_seed(next_seed_)) take(seeds_[next_seed_++], out);
  return out;
}

std::vector<Choice> Search::first_seeds(size_t count) {
  std::vector<Choice> out;
  while (next_seed_ < count && have_seed(next_seed_)) take(seeds_[next_seed_++], out);
  return out;
}

double Search::least_cost_left() {
  double least = INFINITY;
  for (size_t i = next_seed_; have_seed(i); ++i) {
    if (!is_new(seeds_[i])) continue;
    least = std::min(least, expected_us(seeds_[i]));
    if (i >= suggested_) break;  // those behind it cost more
  }
  return least;
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
  const std::vector<Choice>& geometries = ranking_.geometries();
  Choice point = geometries[static_cast<size_t>(random_() % geometries.size())];
  const codegen::SearchSpace& space = spaces_[point.space].space;
  for (const size_t i : other_parameters(space))
    point.tile[i] = static_cast<int>(random_() % space.values[i].size());
  return point;
}

void Search::random_steps(size_t count, std::vector<Choice>& out) {
  const size_t parents = std::min(kBestKept, results_.size());
  if (parents == 0) return;
  draw(
      count, [&] { return random_step(parents); }, out);
}

// Fills up to `count` with what is new of a limited number of tries.
void Search::draw(size_t count, const std::function<Choice()>& next, std::vector<Choice>& out) {
  for (int tries = 0; tries < kRandomTries * static_cast<int>(count) && out.size() < count; ++tries)
    take(next(), out);
}

std::vector<Choice> Search::random_points(size_t count) {
  std::vector<Choice> out;
  if (geometries() > 0)
    draw(
        count, [this] { return random_point(); }, out);
  return out;
}

// The legal ones.
std::vector<Choice> Search::points_of(const Choice& geometry) const {
  const Space& space = spaces_[geometry.space];
  const std::vector<size_t> varied = other_parameters(space.space);
  std::vector<Choice> points;
  Points point(space.space, varied, geometry);
  do {
    if (space.legal(point.tile())) points.push_back(point.choice());
  } while (point.next());
  return points;
}

std::vector<Choice> Search::next_points(size_t count) {
  std::vector<Choice> out;
  while (out.size() < count) {
    if (rest_.empty()) {
      if (next_geometry_ == geometries()) break;
      rest_ = points_of(ranking_.geometries()[next_geometry_++]);
      std::reverse(rest_.begin(), rest_.end());
      continue;
    }
    take(rest_.back(), out);
    rest_.pop_back();
  }
  return out;
}

size_t Search::count_points(size_t most) const {
  size_t count = 0;
  for (const Choice& geometry : ranking_.geometries()) {
    count += points_of(geometry).size();
    if (count >= most) return most;
  }
  return count;
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
  for (size_t i = 0; geometries() > 0 && i < kForestPoints; ++i) pool.push_back(random_point());
  pool.insert(pool.end(), compiled_.begin(), compiled_.end());
  std::sort(pool.begin(), pool.end());
  pool.erase(std::unique(pool.begin(), pool.end()), pool.end());
  return pool;
}

// By a forest of all samples; nothing for choices that are not new.
std::vector<std::optional<Search::Expectation>> Search::expectations(
    const std::vector<Choice>& choices) {
  RegressionForest::Options options;
  options.threads = threads_;
  const auto forest = RegressionForest::fit(samples_, random_(), options);
  std::vector<std::optional<Expectation>> out(choices.size());
  const size_t parts = (choices.size() + kEstimatedAtOnce - 1) / kEstimatedAtOnce;
  for_each_index(parts, threads_, [&](size_t part) {
    const size_t end = std::min(choices.size(), (part + 1) * kEstimatedAtOnce);
    for (size_t i = part * kEstimatedAtOnce; i < end; ++i) {
      if (!is_new(choices[i])) continue;
      const auto off = forest.estimate(spaces_[choices[i].space].features(tile(choices[i])));
      out[i] = {std::log(expected_us(choices[i])) + off.mean, off.deviation};
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

float Search::value_of(double time_us, double expected_us) {
  if (!std::isfinite(time_us)) return kFailureValue;
  if (!std::isfinite(expected_us)) return 0;
  const auto off = static_cast<float>(std::log(time_us / expected_us));
  return std::clamp(off, -kFailureValue, kFailureValue);
}

void Search::report(const Choice& choice, double time_us) {
  seen_.insert(choice);
  const Space& space = spaces_[choice.space];
  if (space.features) {
    samples_.push_back({space.features(tile(choice)), value_of(time_us, expected_us(choice))});
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
  return tile_at(spaces_[choice.space].space, choice);
}

}  // namespace gemmtune::tuner
