#include "tuner/search/ranking.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "core/parallel.h"
#include "tuner/search/points.h"

namespace gemmtune::tuner {
namespace {

constexpr size_t kPerGeometry = 2;
constexpr double kContender = 1.15;  // times the best cost
constexpr double kTie = 1e-6;        // costs that differ by less are as good as equal

uint64_t mixed(uint64_t x) {  // splitmix64's
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

// Of equal ones what is not looked at yet comes first, then the first by number.
bool Ranking::Place::behind(const Place& other) const {
  if (cost != other.cost) return cost > other.cost;
  if (kind != other.kind) return kind > other.kind;
  return std::pair(geometry, point) > std::pair(other.geometry, other.point);
}

Ranking::Ranking(std::span<const SearchedSpace> spaces, uint64_t seed, int threads,
                 RankingOrder order)
    : spaces_(spaces), seed_(seed) {
  for (const SearchedSpace& space : spaces_) {
    Steps steps;
    for (const size_t i : other_parameters(space.space))
      (space.bounds && space.bounds->shared_out[i] ? steps.shared_out : steps.rest).push_back(i);
    steps_.push_back(std::move(steps));
  }
  std::vector<double> bounds;  // of the geometries
  find_geometries(threads, bounds);
  make_families(bounds, order);
}

void Ranking::find_geometries(int threads, std::vector<double>& bounds) {
  struct Part {
    size_t space;
    int first;  // value of its first parameter
    std::vector<Choice> geometries;
    std::vector<double> bounds;
  };
  std::vector<Part> parts;
  for (size_t s = 0; s < spaces_.size(); ++s) {
    const auto& values = spaces_[s].space.values[geometry_parameters(spaces_[s].space).front()];
    for (size_t i = 0; i < values.size(); ++i) parts.push_back({s, static_cast<int>(i), {}, {}});
  }
  for_each_index(parts.size(), threads, [&](size_t i) {
    Part& part = parts[i];
    const SearchedSpace& space = spaces_[part.space];
    visit_geometries(space.space, part.space, part.first, [&](const Points& points) {
      if (!space.legal(points.tile())) return true;
      part.geometries.push_back(points.choice());
      part.bounds.push_back(space.bounds ? space.bounds->of_geometry(points.tile()) : 0);
      return true;
    });
  });
  for (Part& part : parts) {
    std::move(part.geometries.begin(), part.geometries.end(), std::back_inserter(geometries_));
    bounds.insert(bounds.end(), part.bounds.begin(), part.bounds.end());
  }
}

void Ranking::make_families(const std::vector<double>& bounds, RankingOrder order) {
  using Kind = std::pair<size_t, std::pair<int, int>>;  // space, results
  const auto kind_of = [&](const Choice& geometry) {
    const SearchedSpace& space = spaces_[geometry.space];
    if (order == RankingOrder::cheapest_first) return Kind();
    return Kind(geometry.space,
                space.results ? space.results(tile_at(space.space, geometry)) : std::pair(0, 0));
  };
  std::map<Kind, size_t> family_of;
  for (size_t g = 0; g < geometries_.size(); ++g) {
    const auto [family, added] = family_of.try_emplace(kind_of(geometries_[g]), families_.size());
    if (added) families_.emplace_back();
    families_[family->second].queue.push_back({bounds[g], Place::Kind::bound_of_geometry, g, {}});
  }
  for (Family& family : families_) {
    std::make_heap(family.queue.begin(), family.queue.end(),
                   [](const Place& a, const Place& b) { return a.behind(b); });
  }
}

// Deals points out to families in turn: the cost function orders the tiles of one better than it
// compares families (an 8x8 thread tile may beat the 16x8 that it likes more). What is far behind
// the best waits for the end.
std::optional<Choice> Ranking::next() {
  while (true) {
    if (turn_ < turns_.size()) {
      auto taken = take(*turns_[turn_++], limit_);
      if (!taken) continue;
      round_dealt_ = true;
      return std::move(taken->choice);
    }
    if (!add_turn() && !begin_round()) return std::nullopt;
  }
}

// Lets one more family take its turns, if one is not too far behind; the first says how far that
// is.
bool Ranking::add_turn() {
  Family* family = next_family(turns_.empty() ? INFINITY : limit_);
  if (family == nullptr) return false;
  if (turns_.empty()) limit_ = kContender * family->queue.front().cost;
  family->dealt = true;
  turns_.push_back(family);
  return true;
}

// False if nothing is left. After a round that dealt nothing there is no limit any more.
bool Ranking::begin_round() {
  if (!std::exchange(round_dealt_, false) && std::exchange(limit_, INFINITY) == INFINITY)
    return false;
  turn_ = 0;
  return !turns_.empty();
}

// The family's cheapest point that is left, if it costs no more than that.
std::optional<Ranking::Ranked> Ranking::take(Family& family, double limit) {
  while (!family.queue.empty() && family.queue.front().cost <= limit) {
    if (family.queue.front().kind != Place::Kind::point) {
      look_at(family);
      continue;
    }
    std::pop_heap(family.queue.begin(), family.queue.end(),
                  [](const Place& a, const Place& b) { return a.behind(b); });
    Place place = std::move(family.queue.back());
    family.queue.pop_back();
    return Ranked{place.cost, std::move(place.point)};
  }
  return std::nullopt;
}

// Of the families that had no turn yet the one with the cheapest point, which is then the first of
// its queue; null if none costs so little.
Ranking::Family* Ranking::next_family(double limit) {
  while (true) {
    Family* best = nullptr;
    for (Family& family : families_) {
      if (family.dealt || family.queue.empty()) continue;
      if (best == nullptr || best->queue.front().behind(family.queue.front())) best = &family;
    }
    if (best == nullptr || best->queue.front().cost > limit) return nullptr;
    if (best->queue.front().kind == Place::Kind::point) return best;
    look_at(*best);
  }
}

// Looks closer at the first of a family's queue, which is a geometry: puts what is found in its
// place.
void Ranking::look_at(Family& family) {
  const auto behind = [](const Place& a, const Place& b) { return a.behind(b); };
  std::pop_heap(family.queue.begin(), family.queue.end(), behind);
  Place place = std::move(family.queue.back());
  family.queue.pop_back();
  const Choice& geometry = geometries_[place.geometry];
  const auto add = [&](Place found) {
    family.queue.push_back(std::move(found));
    std::push_heap(family.queue.begin(), family.queue.end(), behind);
  };
  if (place.kind == Place::Kind::bound_of_geometry && spaces_[geometry.space].bounds) {
    add({bound_of_work(geometry), Place::Kind::bound_of_work, place.geometry, {}});
    return;
  }
  for (Ranked& point : best_points(geometry))
    add({point.cost, Place::Kind::point, place.geometry, std::move(point.choice)});
}

double Ranking::bound_of_work(const Choice& geometry) const {
  const SearchedSpace& space = spaces_[geometry.space];
  double least = INFINITY;
  Points works(space.space, steps_[geometry.space].shared_out, geometry);
  do least = std::min(least, space.bounds->of_work(works.tile()));
  while (works.next());
  return least;
}

// The cheapest of a geometry, best first.
std::vector<Ranking::Ranked> Ranking::best_points(const Choice& geometry) {
  const SearchedSpace& space = spaces_[geometry.space];
  std::vector<Ranked> works;
  Points points(space.space, steps_[geometry.space].shared_out, geometry);
  do works.push_back({space.bounds ? space.bounds->of_work(points.tile()) : 0, points.choice()});
  while (points.next());
  std::stable_sort(works.begin(), works.end(),
                   [](const Ranked& a, const Ranked& b) { return a.cost < b.cost; });
  std::vector<Ranked> kept;
  for (const Ranked& work : works) {
    if (kept.size() == kPerGeometry && work.cost >= kept.back().cost) break;
    keep_best(work.choice, kept);
  }
  return kept;
}

// Goes through the points that share out work like that one.
void Ranking::keep_best(const Choice& work, std::vector<Ranked>& kept) {
  const SearchedSpace& space = spaces_[work.space];
  Points points(space.space, steps_[work.space].rest, work);
  do {
    if (!space.takes(points.tile())) continue;
    double cost = space.cost(points.tile());
    const bool full = kept.size() == kPerGeometry;
    if (full && cost >= kept.back().cost) continue;
    cost *= tie_breaker(points.choice());
    if (full && cost >= kept.back().cost) continue;
    if (full) kept.pop_back();
    const auto at =
        std::upper_bound(kept.begin(), kept.end(), cost,
                         [](double c, const Ranked& ranked) { return c < ranked.cost; });
    kept.insert(at, {cost, points.choice()});
  } while (points.next());
}

// At least 1.
double Ranking::tie_breaker(const Choice& choice) const {
  uint64_t hash = mixed(seed_ + choice.space);
  for (const int index : choice.tile) hash = mixed(hash + 1 + static_cast<uint64_t>(index));
  return 1 + kTie * (static_cast<double>(hash >> 11) / static_cast<double>(uint64_t{1} << 53));
}

}  // namespace gemmtune::tuner
