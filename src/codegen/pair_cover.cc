#include "codegen/pair_cover.h"

#include <algorithm>
#include <set>

namespace gemmtune::codegen {
namespace {

constexpr size_t kMostOwnLevels = 3;

// What stands for the `values` of one parameter.
int level_of(const std::set<int>& values, int value) {
  if (values.size() <= kMostOwnLevels)
    return static_cast<int>(std::distance(values.begin(), values.find(value)));
  if (value == *values.begin()) return 0;
  return value == *values.rbegin() ? 2 : 1;
}

// A number below size() for each pair of levels of two positions.
class PairNumbers {
 public:
  explicit PairNumbers(std::span<const Levels> points) {
    if (points.empty()) return;
    for (const Levels& point : points) {
      counts_.resize(point.size(), 1);
      for (size_t i = 0; i < point.size(); ++i)
        counts_[i] = std::max(counts_[i], static_cast<size_t>(point[i]) + 1);
    }
    for (size_t i = 0; i < counts_.size(); ++i) {
      for (size_t j = i + 1; j < counts_.size(); ++j) size_ += counts_[i] * counts_[j];
    }
  }

  size_t size() const { return size_; }

  std::vector<size_t> of(const Levels& point) const {
    std::vector<size_t> numbers;
    size_t first = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      for (size_t j = i + 1; j < counts_.size(); ++j) {
        numbers.push_back(first + static_cast<size_t>(point[i]) * counts_[j] +
                          static_cast<size_t>(point[j]));
        first += counts_[i] * counts_[j];
      }
    }
    return numbers;
  }

 private:
  std::vector<size_t> counts_;  // of a position's levels
  size_t size_ = 0;
};

}  // namespace

std::vector<Levels> levels_of(const SearchSpace& space, std::span<const TileConfig> tiles) {
  std::vector<Levels> points(tiles.size());
  for (int TileConfig::*const member : space.members) {
    std::set<int> values;
    for (const TileConfig& tile : tiles) values.insert(tile.*member);
    for (size_t t = 0; t < tiles.size(); ++t)
      points[t].push_back(level_of(values, tiles[t].*member));
  }
  return points;
}

size_t count_pairs(std::span<const Levels> points) {
  const PairNumbers numbers(points);
  std::vector<bool> held(numbers.size());
  for (const Levels& point : points) {
    for (const size_t pair : numbers.of(point)) held[pair] = true;
  }
  return static_cast<size_t>(std::count(held.begin(), held.end(), true));
}

std::vector<size_t> pair_cover(std::span<const Levels> points, size_t most) {
  const PairNumbers numbers(points);
  std::vector<std::vector<size_t>> pairs;
  pairs.reserve(points.size());
  for (const Levels& point : points) pairs.push_back(numbers.of(point));
  std::vector<bool> held(numbers.size());
  std::vector<size_t> chosen;
  while (chosen.size() < most) {
    size_t best = 0;
    std::ptrdiff_t best_new = 0;
    for (size_t p = 0; p < pairs.size(); ++p) {
      const auto added =
          std::count_if(pairs[p].begin(), pairs[p].end(), [&](size_t pair) { return !held[pair]; });
      if (added <= best_new) continue;
      best = p;
      best_new = added;
    }
    if (best_new == 0) break;
    for (const size_t pair : pairs[best]) held[pair] = true;
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace gemmtune::codegen
