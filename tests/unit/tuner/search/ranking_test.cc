#include "tuner/search/ranking.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "codegen/kernel_spec.h"
#include "core/device.h"
#include "tuner/search/points.h"
#include "tuner/search/ranked_space.h"

namespace gemmtune::tuner {
namespace {

// The space with values left out at random until it is small enough to look at every point. The
// first of each parameter that is not geometry is kept.
codegen::SearchSpace part_of(codegen::SearchSpace space, int64_t most_points,
                             std::mt19937& random) {
  const auto geometry = geometry_parameters(space);
  while (space.size() > most_points) {
    const size_t i = random() % space.values.size();
    auto& values = space.values[i];
    if (values.size() == 1) continue;
    const bool any = std::find(geometry.begin(), geometry.end(), i) != geometry.end();
    const size_t at = any ? random() % values.size() : 1 + random() % (values.size() - 1);
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return space;
}

template <class T>
T one_of(std::initializer_list<T> values, std::mt19937& random) {
  return *(values.begin() + random() % values.size());
}

// From 1 to 2^14, as likely in each octave: a power of two, a multiple of 16, or any.
int64_t random_size(std::mt19937& random) {
  const int64_t octave = int64_t{1} << (random() % 14);
  const int64_t any = octave + static_cast<int64_t>(random()) % octave;
  return one_of({octave, (any + 15) / 16 * 16, any}, random);
}

Problem random_problem(std::mt19937& random) {
  Shape shape = {random_size(random), random_size(random), random_size(random)};
  constexpr int64_t kFew = 64;
  if (random() % 4 == 0) shape.m = std::min(shape.m, kFew);
  if (random() % 4 == 0) shape.n = std::min(shape.n, kFew);
  Problem p = make_problem(shape, one_of({DataType::f32, DataType::f16, DataType::bf16}, random));
  p.layout.a = one_of({Order::row_major, Order::column_major}, random);
  p.layout.b = one_of({Order::row_major, Order::column_major}, random);
  p.align_bytes = one_of({256, 16, 4}, random);
  if (random() % 4 == 0) p.batch = 1 + static_cast<int64_t>(random() % 8);
  if (p.type == DataType::f32) {
    p.math = one_of({MathMode::ieee, MathMode::ieee, MathMode::tf32, MathMode::tf32x3,
                     MathMode::f16, MathMode::bf16x6},
                    random);
  }
  if (random() % 4 == 0) p.epilogue.activation = kRelu;
  pack(p);
  return canonical(p);
}

// A problem and a device for it.
struct Case {
  Problem problem;
  const DeviceSpec* device;
};

Case random_case(const codegen::Strategy& strategy, std::mt19937& random) {
  while (true) {
    const Problem problem = random_problem(random);
    const auto devices = known_devices();
    const DeviceSpec& device = devices[random() % devices.size()];
    if (validate(problem) && strategy.supports(problem, device.arch)) return {problem, &device};
  }
}

std::vector<Choice> dealt(const std::vector<SearchedSpace>& spaces, size_t most, int threads = 1) {
  Ranking ranking(spaces, 7, threads);
  std::vector<Choice> choices;
  while (choices.size() < most) {
    auto next = ranking.next();
    if (!next) break;
    choices.push_back(*std::move(next));
  }
  return choices;
}

std::vector<SearchedSpace> without_bounds(std::vector<SearchedSpace> spaces) {
  for (SearchedSpace& space : spaces) space.bounds.reset();
  return spaces;
}

TileConfig at_first_values(const SearchedSpace& space, TileConfig tile,
                           const std::function<bool(size_t)>& undecided) {
  for (size_t i = 0; i < space.space.values.size(); ++i) {
    if (undecided(i)) tile.*space.space.members[i] = space.space.values[i].front();
  }
  return tile;
}

// Without bounds, a ranking looks at every point before it deals the first.
TEST_CASE("bounds change nothing in the order of any strategy's points") {
  constexpr int kCases = 8;  // that have a legal point
  std::mt19937 random(20);
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    CAPTURE(strategy->name());
    const auto whole = *codegen::default_search_space(*strategy);
    int compared = 0;
    for (int tries = 0; compared < kCases && tries < 40 * kCases; ++tries) {
      const Case c = random_case(*strategy, random);
      CAPTURE(key(c.problem));
      CAPTURE(c.device->id);
      const std::vector<SearchedSpace> spaces = {
          ranked_space(part_of(whole, 20'000, random), c.problem, *c.device)};
      const auto all = dealt(without_bounds(spaces), SIZE_MAX);
      CHECK(dealt(spaces, SIZE_MAX) == all);
      if (!all.empty()) ++compared;
    }
    CHECK(compared == kCases);
  }
}

TEST_CASE("the first points of all strategies together are those of looking at every point") {
  std::mt19937 random(21);
  for (int i = 0; i < 12; ++i) {
    const Case c =
        random_case(**codegen::find_strategy(i % 2 == 0 ? "mma_split_k" : "split_k"), random);
    CAPTURE(key(c.problem));
    CAPTURE(c.device->id);
    std::vector<SearchedSpace> spaces;
    for (const codegen::Strategy* strategy : codegen::strategies()) {
      if (!strategy->supports(c.problem, c.device->arch)) continue;
      const auto whole = *codegen::default_search_space(*strategy);
      spaces.push_back(ranked_space(part_of(whole, 10'000, random), c.problem, *c.device));
    }
    const auto first = dealt(spaces, 200);
    CHECK(first.size() > 0);
    CHECK(first == dealt(without_bounds(spaces), 200));
    CHECK(first == dealt(spaces, 200, 3));
  }
}

// Of every legal point the cost, but of each geometry only the two least; ascending.
std::vector<double> least_costs(const std::vector<SearchedSpace>& spaces) {
  std::vector<double> costs;
  for (const SearchedSpace& searched : spaces) {
    const codegen::SearchSpace& space = searched.space;
    std::map<std::string, std::vector<double>> of_geometry;
    for (int64_t i = 0; i < space.size(); ++i) {
      TileConfig tile = space.at(i);
      if (!searched.legal(tile)) continue;
      const double cost = searched.cost(tile);
      for (const size_t p : other_parameters(space)) tile.*space.members[p] = 0;
      of_geometry[to_string(tile)].push_back(cost);
    }
    for (auto& [geometry, points] : of_geometry) {
      std::sort(points.begin(), points.end());
      costs.insert(costs.end(), points.begin(),
                   points.begin() + std::min<ptrdiff_t>(2, std::ssize(points)));
    }
  }
  std::sort(costs.begin(), costs.end());
  return costs;
}

TEST_CASE("cheapest first, the 64 best points of all strategies are the model's 64 best") {
  constexpr size_t kBest = 64;
  std::mt19937 random(24);
  for (int i = 0; i < 16; ++i) {
    const Case c =
        random_case(**codegen::find_strategy(i % 2 == 0 ? "mma_multistage" : "naive"), random);
    CAPTURE(key(c.problem));
    CAPTURE(c.device->id);
    std::vector<SearchedSpace> spaces;
    for (const codegen::Strategy* strategy : codegen::strategies()) {
      if (!strategy->supports(c.problem, c.device->arch)) continue;
      const auto whole = *codegen::default_search_space(*strategy);
      spaces.push_back(ranked_space(part_of(whole, 10'000, random), c.problem, *c.device));
    }
    const auto expected = least_costs(spaces);
    Ranking ranking(spaces, 3, 1, RankingOrder::cheapest_first);
    for (size_t place = 0; place < std::min(kBest, expected.size()); ++place) {
      const auto point = ranking.next();
      REQUIRE(point.has_value());
      const SearchedSpace& space = spaces[point->space];
      CHECK(space.cost(tile_at(space.space, *point)) ==
            doctest::Approx(expected[place]).epsilon(2e-6));
    }
  }
}

TEST_CASE("no point costs less than the bounds of what it shares with others") {
  std::mt19937 random(22);
  for (const codegen::Strategy* strategy : codegen::strategies()) {
    CAPTURE(strategy->name());
    const auto whole = *codegen::default_search_space(*strategy);
    int legal = 0;
    for (int i = 0; i < 100; ++i) {
      const Case c = random_case(*strategy, random);
      CAPTURE(key(c.problem));
      CAPTURE(c.device->id);
      const SearchedSpace space = ranked_space(part_of(whole, 3'000, random), c.problem, *c.device);
      const auto is_geometry = [&](size_t p) {
        return strategy->is_geometry(strategy->parameters()[p]);
      };
      for (int64_t at = 0; at < space.space.size(); ++at) {
        const TileConfig tile = space.space.at(at);
        if (!space.legal(tile)) continue;
        ++legal;
        const double cost = space.cost(tile);
        const double of_work = space.bounds->of_work(at_first_values(space, tile, [&](size_t p) {
          return !is_geometry(p) && !space.bounds->shared_out[p];
        }));
        const double of_geometry = space.bounds->of_geometry(
            at_first_values(space, tile, [&](size_t p) { return !is_geometry(p); }));
        if (of_work <= cost && of_geometry <= cost) continue;
        CAPTURE(to_string(tile));
        CHECK(of_work <= cost);
        CHECK(of_geometry <= cost);
      }
    }
    CHECK(legal > 0);
  }
}

// By the words of ranking.h, on a space whose costs are made up.
TEST_CASE("points are dealt to families in turn, the best two of each geometry, cheapest first") {
  const auto& strategy = **codegen::find_strategy("double_buffer");
  std::mt19937 random(23);
  SearchedSpace space;
  space.space = part_of(*codegen::default_search_space(strategy), 20'000, random);
  space.legal = [](const TileConfig& t) {
    return t.tile_m % t.warp_m == 0 && t.tile_n % t.warp_n == 0;
  };
  std::map<std::string, double> costs;  // further apart than what breaks ties
  std::vector<int64_t> order(static_cast<size_t>(space.space.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::shuffle(order.begin(), order.end(), random);
  for (const int64_t i : order)
    costs[to_string(space.space.at(i))] = 100 + 0.01 * static_cast<double>(costs.size());
  space.cost = [&costs](const TileConfig& t) { return costs.at(to_string(t)); };
  space.results = [](const TileConfig& t) { return std::pair(t.thread_m, t.thread_n); };

  std::map<Choice, std::vector<std::pair<double, Choice>>> of_geometry;
  const auto others = other_parameters(space.space);
  for (int64_t i = 0; i < space.space.size(); ++i) {
    const TileConfig tile = space.space.at(i);
    if (!space.legal(tile)) continue;
    Choice choice{0, {}};
    for (size_t p = 0; p < space.space.values.size(); ++p) {
      const auto& values = space.space.values[p];
      const auto at = std::find(values.begin(), values.end(), tile.*space.space.members[p]);
      choice.tile.push_back(static_cast<int>(at - values.begin()));
    }
    Choice geometry = choice;
    for (const size_t p : others) geometry.tile[p] = 0;
    of_geometry[geometry].emplace_back(space.cost(tile), choice);
  }
  std::map<std::pair<int, int>, std::vector<std::pair<double, Choice>>> families;
  double best = INFINITY;
  for (auto& [geometry, points] : of_geometry) {
    std::sort(points.begin(), points.end());
    points.resize(std::min<size_t>(points.size(), 2));
    auto& family = families[space.results(tile_at(space.space, geometry))];
    family.insert(family.end(), points.begin(), points.end());
    best = std::min(best, points.front().first);
  }
  std::vector<std::vector<std::pair<double, Choice>>> hands;  // cheapest last
  for (auto& [results, points] : families) {
    std::sort(points.rbegin(), points.rend());
    hands.push_back(points);
  }
  std::sort(hands.begin(), hands.end(),
            [](const auto& a, const auto& b) { return a.back() < b.back(); });
  std::vector<Choice> expected;
  for (const double limit : {1.15 * best, static_cast<double>(INFINITY)}) {
    for (size_t before = SIZE_MAX; before != expected.size();) {
      before = expected.size();
      for (auto& hand : hands) {
        if (hand.empty() || hand.back().first > limit) continue;
        expected.push_back(hand.back().second);
        hand.pop_back();
      }
    }
  }
  REQUIRE(families.size() > 3);
  CHECK(dealt({space}, SIZE_MAX) == expected);
}

// What the promise of a first candidate within half a second rests on: counted, since time is the
// machine's.
TEST_CASE("the first seeds of a search look at few points") {
  const auto seen = [](const Problem& problem, std::string_view device, size_t seeds) {
    const DeviceSpec& limits = *find_device_spec(device);
    std::atomic<int> points = 0;
    std::vector<SearchedSpace> spaces;
    for (const codegen::Strategy* strategy : codegen::strategies()) {
      if (!strategy->supports(problem, limits.arch)) continue;
      SearchedSpace space =
          ranked_space(*codegen::default_search_space(*strategy), problem, limits);
      space.cost = [&points, cost = space.cost](const TileConfig& tile) {
        ++points;
        return cost(tile);
      };
      spaces.push_back(std::move(space));
    }
    Ranking ranking(spaces, 1, 2);
    for (size_t i = 0; i < seeds; ++i) REQUIRE(ranking.next().has_value());
    return points.load();
  };
  CHECK(seen(make_problem({5120, 5120, 4096}), "h200", 1) < 5'000);
  CHECK(seen(make_problem({1, 4096, 4096}), "rtx4090", 1) < 20'000);
}

}  // namespace
}  // namespace gemmtune::tuner
