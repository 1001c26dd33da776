#include "dispatch/vendor_neighbours.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/roofline.h"
#include "dispatch/product_kind.h"

namespace gemmtune::dispatch {
namespace {

constexpr size_t kNearest = 6;
constexpr double kFurtherByFewSide = 1.5;  // the side that is few decides the vendor's tile
constexpr double kNearerByBatch = 0.5;  // how many entries a batch has says less than their sizes
constexpr double kLaunchUs = 2;
constexpr double kAsNear = 0.05;  // squares of distances below it hardly tell neighbours apart
constexpr double kFarthestNeighbour = 16;  // the square of four factors of two: others say little
constexpr double kVeryNear = 1;            // the square of one: of a batch such a one says enough

double squared(double x) {
  return x * x;
}

}  // namespace

void VendorNeighbours::count(const Problem& other, double us) {
  const auto [few, many] = sides(problem_);
  const auto [few_there, many_there] = sides_as(problem_, other.shape);
  const double distance = squared(kFurtherByFewSide * factors_of_two(few, few_there)) +
                          squared(factors_of_two(many, many_there)) +
                          squared(factors_of_two(problem_.shape.k, other.shape.k)) +
                          squared(kNearerByBatch * factors_of_two(problem_.batch, other.batch));
  if (distance <= kFarthestNeighbour)
    neighbours_.push_back({distance, std::log(us / least_us(other))});
}

std::optional<double> VendorNeighbours::expected_us() const {
  std::vector<Neighbour> nearest(std::min(kNearest, neighbours_.size()));
  std::partial_sort_copy(
      neighbours_.begin(), neighbours_.end(), nearest.begin(), nearest.end(),
      [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; });
  const bool one_is_enough =
      problem_.batch > 1 && !nearest.empty() && nearest.front().distance <= kVeryNear;
  if (nearest.size() < kNearest && !one_is_enough) return std::nullopt;
  double weights = 0;
  double sum = 0;
  for (const Neighbour& neighbour : nearest) {
    const double weight = 1 / (neighbour.distance + kAsNear);
    weights += weight;
    sum += weight * neighbour.of_least;
  }
  return least_us(problem_) * std::exp(sum / weights);
}

double VendorNeighbours::least_us(const Problem& problem) const {
  return kLaunchUs + floor_us(problem, device_);
}

}  // namespace gemmtune::dispatch
