#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// The values each parameter of a strategy may take: a configs/spaces/<strategy>.json.
struct SearchSpace {
  const Strategy* strategy = nullptr;
  std::vector<std::vector<int>> values;    // parallel to strategy->parameters()
  std::vector<int TileConfig::*> members;  // the fields that the parameters name

  // Points of the full product, legal or not.
  int64_t size() const;
  // The point with mixed-radix index `index` in [0, size()).
  TileConfig at(int64_t index) const;
  // Whether the tile is a point of the full product.
  bool holds(const TileConfig& tile) const;
};

// Parses {"strategy": ..., "about": ..., "values": {"tile_m": [64, 128], ...}}. Every parameter of
// the strategy must be there with at least one whole number, and no other. Errors name file and
// key.
Expected<SearchSpace> parse_search_space(std::string_view json, std::string_view file_name);

// The space compiled in for a strategy.
Expected<SearchSpace> default_search_space(const Strategy& strategy);

// Reads a space file from disk.
Expected<SearchSpace> load_search_space(const std::string& path);

// How many points each rule refused.
struct RuleCount {
  const Rule* rule;
  int64_t refused;
};

struct Enumeration {
  std::vector<TileConfig> legal;
  std::vector<RuleCount> refused;  // rules that refused at least one point, in rule order
};

// All points of `space` that are legal for `problem` (canonical) on `device`.
Enumeration enumerate(const SearchSpace& space, const Problem& problem, const DeviceSpec& device);

// Different legal points of `space` in a random order, `most` at most: of a large space they are
// drawn, which takes seconds where enumerate() takes minutes, and where legal ones are rare there
// may be fewer of them than the space has.
std::vector<TileConfig> sample_legal(const SearchSpace& space, const Problem& problem,
                                     const DeviceSpec& device, size_t most,
                                     std::mt19937_64& random);

}  // namespace gemmtune::codegen
