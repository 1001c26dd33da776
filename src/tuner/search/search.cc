#include "tuner/search/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "tuner/search/points.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kVariedKernels = 4;  // best ones whose launch facts are varied
constexpr size_t kRandomTries = 200;  // per wanted point
constexpr float kFailureValue = 2;    // logarithm of a time over the expected one
// By how much, in logarithms of times, a kernel has to promise more than one whose machine code is
// at hand: NVRTC takes about four times as long as measuring.
constexpr double kWorthOfCode = 0.03;
// Over what a calibration expects of its favourite: of 147 recorded searches the winners are at
// 1.49 at most (docs/performance.md, "Search").
constexpr double kCannotWin = 1.6;

}  // namespace

Search::Search(std::vector<Space> spaces, uint64_t seed, int threads, RankingOrder order)
    : spaces_(std::move(spaces)),
      threads_(threads),
      random_(seed),
      order_(order),
      ranking_(spaces_, random_(), threads, is_calibrated() ? RankingOrder::in_turns : order) {}

bool Search::is_calibrated() const {
  return std::any_of(spaces_.begin(), spaces_.end(),
                     [](const Space& space) { return static_cast<bool>(space.calibrated); });
}

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
  return !seen_.contains(choice) && spaces_[choice.space].takes(tile(choice));
}

std::optional<Choice> Search::plainer(const Choice& choice) const {
  const Space& space = spaces_[choice.space];
  const auto plain = space.plainer ? space.plainer(tile(choice)) : std::nullopt;
  return plain ? find(space.space.strategy->name(), *plain) : std::nullopt;
}

bool Search::take(const Choice& choice, std::vector<Choice>& out) {
  if (!is_new(choice)) return false;
  mark_seen(choice);
  out.push_back(choice);
  return true;
}

void Search::mark_seen(const Choice& choice) {
  seen_.insert(choice);
  seen_kernels_.insert(without_launch_facts(choice));
}

// With the first values of those.
Choice Search::without_launch_facts(Choice choice) const {
  const auto& members = spaces_[choice.space].space.members;
  for (size_t i = 0; i < members.size(); ++i) {
    if (is_launch_fact(members[i])) choice.tile[i] = 0;
  }
  return choice;
}

// With the raster that a kernel is tried with first; of one that was tried, the choice itself.
Choice Search::in_first_order(const Choice& choice) const {
  const Space& space = spaces_[choice.space];
  if (!space.first_order || seen_kernels_.contains(without_launch_facts(choice))) return choice;
  return find(space.space.strategy->name(), space.first_order(tile(choice))).value_or(choice);
}

// Without launch facts.
std::set<Choice> Search::best_kernels() const {
  std::set<Choice> best;
  for (const Ranked& result : results_) {
    if (best.size() == kVariedKernels) break;
    best.insert(without_launch_facts(result.choice));
  }
  return best;
}

// In 73 recorded searches, other launch facts of kernels that were not among the best four with the
// first ones were a quarter of the candidates, and made results 0.02% better.
bool Search::worth_trying(const Choice& choice, const std::set<Choice>& best) const {
  const Choice kernel = without_launch_facts(choice);
  return vary_all_ || !seen_kernels_.contains(kernel) || best.contains(kernel);
}

void Search::suggest(const Choice& choice) {
  ++suggested_;
  suggestions_end_ = std::max(suggestions_end_, next_seed_);
  seeds_.insert(seeds_.begin() + static_cast<std::ptrdiff_t>(suggestions_end_++),
                plainer(choice).value_or(choice));
}

void Search::suggest_best_of(const std::vector<Choice>& choices) {
  std::vector<Ranked> legal;
  double least_us = INFINITY;
  for (const Choice& choice : choices) {
    if (!spaces_[choice.space].takes(tile(choice))) continue;
    legal.push_back({expected_us(choice), choice});
    least_us = std::min(least_us, legal.back().cost);
  }
  for (const Ranked& one : legal) {
    if (!cannot_win(one.choice, one.cost, kCannotWin * least_us)) suggest(one.choice);
  }
}

double Search::expected_us(const Choice& choice) const {
  const Space& space = spaces_[choice.space];
  return (space.calibrated ? space.calibrated : space.cost)(tile(choice));
}

// What a calibration expects at most of a choice that can win. No less than it expected of the best
// result: where that is much, it knows little of what is fast here.
double Search::limit_us() const {
  const double limit_us = kCannotWin * least_expected_us_;
  return results_.empty() ? limit_us : std::max(limit_us, expected_us(results_.front().choice));
}

bool Search::cannot_win(const Choice& choice, double expected_us, double limit_us) const {
  return spaces_[choice.space].calibrated && expected_us > limit_us;
}

// Takes a choice if it is worth trying and can win.
bool Search::take_promising(const Choice& any_order, const std::set<Choice>& best, double limit_us,
                            std::vector<Choice>& out) {
  const Choice choice = in_first_order(any_order);
  return worth_trying(choice, best) && !cannot_win(choice, expected_us(choice), limit_us) &&
         take(choice, out);
}

void Search::know_compiled(const Choice& choice) {
  compiled_.insert(choice);
  compiled_kernels_.insert(without_launch_facts(choice));
}

// To be taken off the logarithm of what is expected.
double Search::worth_of_code(const Choice& choice) const {
  return compiled_kernels_.contains(without_launch_facts(choice)) ? kWorthOfCode : 0;
}

// Whether there is a seed of that number; asks the ranking for it.
bool Search::have_seed(size_t index) {
  if (seeds_.size() <= index) make_shortlist();
  while (seeds_.size() <= index) {
    auto next = ranking_.next();
    if (!next) return false;
    seeds_.push_back(in_first_order(*next));
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
  const std::set<Choice> best = best_kernels();
  while (next_seed_ < count && have_seed(next_seed_)) {
    const bool is_suggested = next_seed_ < suggestions_end_;
    const Choice& seed = seeds_[next_seed_++];
    if (is_suggested) {
      take(seed, out);
    } else {
      take_promising(seed, best, limit_us(), out);
    }
  }
  return out;
}

double Search::least_cost_left() {
  double least = INFINITY;
  for (size_t i = next_seed_; have_seed(i); ++i) {
    if (!is_new(seeds_[i])) continue;
    least = std::min(least, expected_us(seeds_[i]));
    if (i >= suggestions_end_) break;  // those behind it cost more
  }
  return least;
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

// Has one point at random tried, and perhaps taken, until there are `count`: a limited number of
// times.
void Search::draw(size_t count, const std::function<void()>& try_one,
                  const std::vector<Choice>& out) {
  for (size_t tries = 0; tries < kRandomTries * count && out.size() < count; ++tries) try_one();
}

std::vector<Choice> Search::random_points(size_t count) {
  std::vector<Choice> out;
  if (geometries() == 0) return out;
  draw(
      count, [&] { take(random_point(), out); }, out);
  return out;
}

// The legal ones.
std::vector<Choice> Search::points_of(const Choice& geometry) const {
  const Space& space = spaces_[geometry.space];
  const std::vector<size_t> varied = other_parameters(space.space);
  std::vector<Choice> points;
  Points point(space.space, varied, geometry);
  do {
    if (space.takes(point.tile())) points.push_back(point.choice());
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
  mark_seen(choice);
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
