#include "codegen/pair_cover.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace gemmtune::codegen {
namespace {

using Pair = std::tuple<size_t, int, size_t, int>;

std::set<Pair> pairs_of(const std::vector<Levels>& points) {
  std::set<Pair> pairs;
  for (const Levels& point : points) {
    for (size_t i = 0; i < point.size(); ++i) {
      for (size_t j = i + 1; j < point.size(); ++j) pairs.insert({i, point[i], j, point[j]});
    }
  }
  return pairs;
}

std::vector<Levels> chosen_of(const std::vector<Levels>& points, size_t most = SIZE_MAX) {
  std::vector<Levels> chosen;
  for (const size_t i : pair_cover(points, most)) chosen.push_back(points.at(i));
  return chosen;
}

// Every point of a product of `counts` levels.
std::vector<Levels> product(const std::vector<int>& counts) {
  std::vector<Levels> points = {{}};
  for (const int count : counts) {
    std::vector<Levels> longer;
    for (const Levels& point : points) {
      for (int level = 0; level < count; ++level) {
        longer.push_back(point);
        longer.back().push_back(level);
      }
    }
    points = std::move(longer);
  }
  return points;
}

TEST_CASE("every pair that stands in a point stands in a chosen one") {
  std::mt19937_64 random(1);
  for (const std::vector<int>& counts :
       {std::vector{2, 2}, {3, 3, 3, 3}, {2, 3, 4, 2}, {1, 5}, {4}, {2, 2, 2, 2, 2, 2, 2}}) {
    std::vector<Levels> points = product(counts);
    for (int round = 0; round < 20; ++round) {
      const std::vector<Levels> chosen = chosen_of(points);
      CHECK(pairs_of(chosen) == pairs_of(points));
      CHECK(count_pairs(points) == pairs_of(points).size());
      CHECK(pair_cover(points) == pair_cover(points));
      // None is of no use.
      for (size_t i = 1; i < chosen.size(); ++i) {
        const std::vector<Levels> before(chosen.begin(),
                                         chosen.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(pairs_of(before).size() < count_pairs(std::span(chosen).first(i + 1)));
      }
      // Other points are legal in the next round.
      std::shuffle(points.begin(), points.end(), random);
      points.resize(std::max<size_t>(1, points.size() * 4 / 5));
    }
  }
}

TEST_CASE("few of many points are enough, and the first of them cover most") {
  const std::vector<Levels> points = product({3, 3, 3, 3, 3, 3});
  CHECK(chosen_of(points).size() <= 20);  // of 729; nine is the least
  CHECK(pair_cover(points, 4).size() == 4);
  CHECK(count_pairs(chosen_of(points, 4)) * 5 >= count_pairs(points) * 2);
  CHECK(pair_cover(points, 0).empty());
  CHECK(pair_cover({}).empty());
  CHECK(count_pairs({}) == 0);
}

TEST_CASE("levels: a value each up to three, else the smallest, the largest, and any between") {
  const auto space = parse_search_space(
      R"({"strategy": "smem_tile", "values": {"tile_m": [8, 16, 32, 4, 64], "tile_n": [32, 8, 16],
          "tile_k": [8]}})",
      "a.json");
  REQUIRE(space);
  std::vector<TileConfig> tiles;
  for (const char* text : {"tile_m=16 tile_n=8 tile_k=8", "tile_m=4 tile_n=32 tile_k=8",
                           "tile_m=64 tile_n=16 tile_k=8", "tile_m=32 tile_n=8 tile_k=8"}) {
    tiles.push_back(*parse_tile(text));
  }
  CHECK(levels_of(*space, tiles) ==
        std::vector<Levels>{{1, 0, 0}, {0, 2, 0}, {2, 1, 0}, {1, 0, 0}});
  tiles.pop_back();
  CHECK(levels_of(*space, tiles) == std::vector<Levels>{{1, 0, 0}, {0, 2, 0}, {2, 1, 0}});
}

}  // namespace
}  // namespace gemmtune::codegen
