#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codegen/search_space.h"

// Which tiles to test where a strategy has too many to test them all: a fault that needs two
// parameters to have certain values is found by tiles in which every two values that may stand
// together do (a covering array of strength two).

namespace gemmtune::codegen {

// A number for the value of each parameter of a tile: tiles are told apart by these only.
using Levels = std::vector<int>;

// The levels of each of `tiles`, in the order of the strategy's parameters. A parameter of which
// `tiles` have up to three values has a level for each. Of any other, the values are sizes that
// differ in size only: its smallest value is level 0, the largest 2, and those between are 1.
std::vector<Levels> levels_of(const SearchSpace& space, std::span<const TileConfig> tiles);

// How many pairs (a level of one parameter and a level of another) stand together in a point.
size_t count_pairs(std::span<const Levels> points);

// Indices of points that together hold every pair that stands together in any of `points`, which
// are of equal length. Each index in turn adds the most pairs that none before it holds, the first
// of equals, so that the first ones cover most: `most` ends the list earlier.
std::vector<size_t> pair_cover(std::span<const Levels> points, size_t most = SIZE_MAX);

}  // namespace gemmtune::codegen
