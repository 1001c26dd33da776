#pragma once

#include <optional>
#include <vector>

#include "core/device.h"
#include "core/problem.h"

namespace gemmtune::dispatch {

// What the vendor should take for a problem, by what it took for the nearest ones of this kind: as
// many times the least that a launch and the device allow as for those, the nearer the more they
// count (docs/decisions/0037-nearest-problems.md).
class VendorNeighbours {
 public:
  VendorNeighbours(const Problem& problem, const DeviceSpec& device)
      : problem_(problem), device_(device) {}

  // Counts one in; `us` is what it took.
  void count(const Problem& other, double us);

  // In us; nothing where too few of them are near enough to say something.
  std::optional<double> expected_us() const;

 private:
  struct Neighbour {
    double distance;  // squared
    double of_least;  // what it took by the least time there, as a logarithm
  };

  double least_us(const Problem& problem) const;

  const Problem& problem_;
  const DeviceSpec& device_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace gemmtune::dispatch
