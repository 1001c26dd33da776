#include "tuner/search/points.h"

#include <utility>

namespace gemmtune::tuner {
namespace {

bool is_geometry(const codegen::SearchSpace& space, size_t parameter) {
  return space.strategy->is_geometry(space.strategy->parameters()[parameter]);
}

std::vector<size_t> parameters_that(const codegen::SearchSpace& space, bool geometry) {
  std::vector<size_t> parameters;
  for (size_t i = 0; i < space.values.size(); ++i) {
    if (is_geometry(space, i) == geometry) parameters.push_back(i);
  }
  return parameters;
}

}  // namespace

Points::Points(const codegen::SearchSpace& space, std::span<const size_t> varied, Choice from)
    : space_(space), varied_(varied), choice_(std::move(from)), tile_(tile_at(space, choice_)) {}

bool Points::next() {
  for (const size_t i : varied_) {
    const std::vector<int>& values = space_.values[i];
    int& at = choice_.tile[i];
    const bool last = at + 1 == static_cast<int>(values.size());
    at = last ? 0 : at + 1;
    tile_.*space_.members[i] = values[static_cast<size_t>(at)];
    if (!last) return true;
  }
  return false;
}

TileConfig tile_at(const codegen::SearchSpace& space, const Choice& choice) {
  TileConfig tile;
  for (size_t i = 0; i < choice.tile.size(); ++i)
    tile.*space.members[i] = space.values[i][static_cast<size_t>(choice.tile[i])];
  return tile;
}

std::vector<size_t> geometry_parameters(const codegen::SearchSpace& space) {
  return parameters_that(space, true);
}

std::vector<size_t> other_parameters(const codegen::SearchSpace& space) {
  return parameters_that(space, false);
}

bool visit_geometries(const codegen::SearchSpace& space, size_t index_of_space, int first,
                      const std::function<bool(const Points&)>& visit) {
  const std::vector<size_t> parameters = geometry_parameters(space);
  Choice from{index_of_space, std::vector<int>(space.values.size())};
  from.tile[parameters.front()] = first;
  Points points(space, std::span(parameters).subspan(1), std::move(from));
  do {
    if (!visit(points)) return false;
  } while (points.next());
  return true;
}

}  // namespace gemmtune::tuner
