#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "codegen/search_space.h"
#include "tuner/search/searched_space.h"

namespace gemmtune::tuner {

// The points of a space that have any values of some parameters, in their order: a step changes
// what differs, and divides nothing.
class Points {
 public:
  // `from` has the first values of the parameters that are `varied`. `space` and `varied` outlive
  // this.
  Points(const codegen::SearchSpace& space, std::span<const size_t> varied, Choice from);

  const Choice& choice() const { return choice_; }
  const TileConfig& tile() const { return tile_; }

  // False behind the last one.
  bool next();

 private:
  const codegen::SearchSpace& space_;
  std::span<const size_t> varied_;
  Choice choice_;
  TileConfig tile_;
};

// The tile of a choice.
TileConfig tile_at(const codegen::SearchSpace& space, const Choice& choice);

// Parameters of a space, by index, that decide a geometry, and all others.
std::vector<size_t> geometry_parameters(const codegen::SearchSpace& space);
std::vector<size_t> other_parameters(const codegen::SearchSpace& space);

// Calls `visit` with each point that has all that is not geometry at its first value, of those
// whose first parameter of geometry has the value with index `first`; ends when it returns false.
// False if it did.
bool visit_geometries(const codegen::SearchSpace& space, size_t index_of_space, int first,
                      const std::function<bool(const Points&)>& visit);

}  // namespace gemmtune::tuner
