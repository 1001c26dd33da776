#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/search_space.h"

namespace gemmtune::tuner {

// A point of one of the spaces being searched.
struct Choice {
  size_t space = 0;       // index into the spaces
  std::vector<int> tile;  // index of the value of each parameter

  auto operator<=>(const Choice&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

// What the points of a space cost at least, while not all of their parameters are decided: geometry
// is decided first, then what is `shared_out`, then the rest. The functions get a tile that has
// what is not decided at its first values.
struct CostBounds {
  std::vector<bool> shared_out;                          // for each parameter of the strategy
  std::function<double(const TileConfig&)> of_geometry;  // geometry is decided
  std::function<double(const TileConfig&)> of_work;      // and what is shared out
};

// A space as a search takes it.
//
// The first value of each parameter that is not geometry must be its most permissive one:
// geometries that are illegal with it are skipped.
struct SearchedSpace {
  codegen::SearchSpace space;
  std::function<bool(const TileConfig&)> legal;
  // The time that is expected, in microseconds.
  std::function<double(const TileConfig&)> cost;
  // What is learnt from is how far results are off that; as many features for every point of every
  // space. May be empty, and nothing is learnt then.
  std::function<std::vector<float>(const TileConfig&)> features;
  // Rows and columns of C that one thread computes, or one warp where its threads share
  // instructions: the same for all points of a geometry. May be empty, and all points are one
  // family then.
  std::function<std::pair<int, int>(const TileConfig&)> results;
  // Without them each point is looked at before the first is ranked.
  std::optional<CostBounds> bounds{};
  // As `cost`, closer to the truth, without bounds and dearer to compute: orders the points that
  // are cheapest by that. May be empty.
  std::function<double(const TileConfig&)> calibrated{};
  // The legal tile of the space that does the same with fewer threads, and is tried in its place;
  // nothing where there is none. May be empty.
  std::function<std::optional<TileConfig>(const TileConfig&)> plainer{};
  // The tile with the raster that its kernel is to be tried with first, in place of the tile's own.
  // May be empty: any.
  std::function<TileConfig(const TileConfig&)> first_order{};

  // Whether a search may try a tile.
  bool takes(const TileConfig& tile) const { return legal(tile) && !(plainer && plainer(tile)); }
};

}  // namespace gemmtune::tuner
