#include "tuner/search/vendor_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

namespace gemmtune::tuner {
namespace {

// Leaves a parameter only the one value; 0 stands for 1. False if the space does not have that.
bool fix(codegen::SearchSpace& space, std::string_view parameter, int value) {
  const auto names = space.strategy->parameters();
  const auto found = std::find(names.begin(), names.end(), parameter);
  if (found == names.end()) return value == 1;
  auto& values = space.values[static_cast<size_t>(found - names.begin())];
  const auto held = std::find_if(values.begin(), values.end(), [value](int of_space) {
    return of_space == value || (value == 1 && of_space == 0);
  });
  if (held == values.end()) return false;
  values = {*held};
  return true;
}

// The points of the space that are as the vendor's; nothing if there are none.
std::optional<codegen::SearchSpace> restricted(codegen::SearchSpace space,
                                               const vendor::AlgorithmTile& vendor,
                                               bool with_cluster) {
  if (!has_parameter(*space.strategy, "consumers")) return std::nullopt;
  bool held = fix(space, "tile_m", vendor.tile_m) && fix(space, "tile_n", vendor.tile_n) &&
              fix(space, "slices", vendor.slices);
  if (held && with_cluster && has_parameter(*space.strategy, "cluster_m"))
    held = fix(space, "cluster_m", vendor.cluster_m) && fix(space, "cluster_n", vendor.cluster_n);
  if (!held) return std::nullopt;
  return space;
}

struct Priced {
  double cost = INFINITY;
  TileConfig tile;
};

// The cheapest of each family. Ties are broken at random: what the cost does not see is no better
// for being listed first.
std::vector<Priced> cheapest(const Search::Space& space, const codegen::SearchSpace& points) {
  std::map<std::tuple<int, int, int>, Priced> families;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> jitter(1.0, 1.0 + 1e-6);
  for (int64_t i = 0; i < points.size(); ++i) {
    const TileConfig tile = points.at(i);
    if (!space.legal(tile)) continue;
    Priced& best = families[{tile.consumers, tile.schedule, tile.exchange}];
    const double cost = space.cost(tile) * jitter(random);
    if (cost < best.cost) best = {cost, tile};
  }
  std::vector<Priced> found;
  found.reserve(families.size());
  for (const auto& [family, priced] : families) found.push_back(priced);
  return found;
}

std::vector<Priced> like(const Search::Space& space, const vendor::AlgorithmTile& vendor) {
  for (const bool with_cluster : {true, false}) {
    const auto points = restricted(space.space, vendor, with_cluster);
    if (!points) continue;
    auto found = cheapest(space, *points);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::vector<LikeVendor> tiles_like(std::span<const Search::Space> spaces,
                                   const vendor::AlgorithmTile& vendor, size_t most) {
  std::vector<std::pair<double, LikeVendor>> all;
  for (size_t s = 0; s < spaces.size(); ++s) {
    for (const Priced& priced : like(spaces[s], vendor))
      all.push_back({priced.cost, {s, priced.tile}});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<LikeVendor> chosen;
  for (size_t i = 0; i < std::min(most, all.size()); ++i) chosen.push_back(all[i].second);
  return chosen;
}

}  // namespace gemmtune::tuner
