#include "tuner/search/ranked_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/tiling.h"
#include "tuner/model/block_order.h"
#include "tuner/model/candidate_features.h"
#include "tuner/model/known_calibration.h"
#include "tuner/model/performance_model.h"
#include "tuner/model/warpgroup_model.h"

#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::tuner {
namespace {

// The space with the most permissive values first for this problem: no activation follows atomic
// additions, so these come last where there is one.
codegen::SearchSpace permissive_first(codegen::SearchSpace space, const Problem& problem) {
  if (problem.epilogue.activation == kNoActivation) return space;
  for (size_t i = 0; i < space.values.size(); ++i) {
    if (space.members[i] != &TileConfig::reduction) continue;
    std::stable_partition(space.values[i].begin(), space.values[i].end(),
                          [](int value) { return value != kReduceAtomic; });
  }
  return space;
}

// From a tile of `space` to the kernel that it stands for.
auto kernels_of(const codegen::SearchSpace& space, const Problem& problem,
                const DeviceSpec& limits) {
  return [spec = codegen::spec_for(*space.strategy, {}, problem, limits.arch)](
             const TileConfig& tile) {
    codegen::KernelSpec tiled = spec;
    tiled.tile = tile;
    return tiled;
  };
}

bool can_be_tried(const codegen::KernelSpec& spec, const Problem& problem,
                  const DeviceSpec& limits) {
  return codegen::broken_rule(spec, limits) == nullptr && spec.strategy->worthwhile(spec, problem);
}

// The fewest registers that kernels with any values of min_blocks are estimated to need: others are
// most permissive, and need the fewest, with their first values.
int fewest_registers(codegen::KernelSpec spec, const std::vector<int>& min_blocks) {
  int fewest = spec.strategy->estimated_registers(spec);
  for (const int value : min_blocks) {
    spec.tile.min_blocks = value;
    fewest = std::min(fewest, spec.strategy->estimated_registers(spec));
  }
  return fewest;
}

// Of the model's cost.
CostBounds bounds_of(const codegen::SearchSpace& space, const Problem& problem,
                     const DeviceSpec& limits) {
  CostBounds bounds;
  bool choice_of_work = false;
  std::vector<int> min_blocks;
  const auto names = space.strategy->parameters();
  for (size_t i = 0; i < names.size(); ++i) {
    bounds.shared_out.push_back(shares_out_work(names[i]));
    choice_of_work = choice_of_work || (bounds.shared_out[i] && space.values[i].size() > 1);
    if (space.members[i] == &TileConfig::min_blocks) min_blocks = space.values[i];
  }
  const auto spec = kernels_of(space, problem, limits);
  bounds.of_work = [=](const TileConfig& tile) {
    const auto s = spec(tile);
    return least_us_of_work(s, fewest_registers(s, min_blocks), problem, limits);
  };
  bounds.of_geometry = bounds.of_work;
  if (choice_of_work) {
    bounds.of_geometry = [=](const TileConfig& tile) {
      const auto s = spec(tile);
      return least_us_of_geometry(s, fewest_registers(s, min_blocks), problem, limits);
    };
  }
  return bounds;
}

// Slices of a tile whose blocks are side by side.
int slices_side_by_side(const codegen::MainloopCost& loop, const TileConfig& tile) {
  if (tile.slices <= 1 || (by_warpgroups(loop) && tiles_first(tile))) return 1;
  return tile.slices;
}

// Bytes of k up to which raster 1 is as fast as the one that reads least. On H100s it was 3% faster
// for 49 kernels with fewer than 1,100, as fast for 77 up to 2,200, and 8% slower for 53 up to
// 4,500.
constexpr int64_t kShortK = 2048;

// Empty where a space has one raster. Only tensor cores ask L2 for so much that its order counts.
std::function<TileConfig(const TileConfig&)> first_order(const codegen::SearchSpace& space,
                                                         const Problem& problem,
                                                         const DeviceSpec& limits) {
  const auto at = std::find(space.members.begin(), space.members.end(), &TileConfig::raster);
  if (at == space.members.end()) return {};
  const std::vector<int>& rasters = space.values[static_cast<size_t>(at - space.members.begin())];
  if (rasters.size() < 2) return {};
  const bool is_short = problem.shape.k * size_bytes(problem.type) <= kShortK;
  const auto spec = kernels_of(space, problem, limits);
  return [=](TileConfig tile) {
    const codegen::KernelSpec kernel = spec(tile);
    const codegen::MainloopCost loop = kernel.strategy->mainloop(kernel);
    if (loop.arithmetic == codegen::Arithmetic::tensor_core &&
        codegen::tiling::blocks_of_cluster(tile) == 1) {
      tile.raster = is_short ? rasters.front()
                             : least_reading_raster(tile, problem.shape, rasters,
                                                    slices_side_by_side(loop, tile));
    }
    return tile;
  };
}

}  // namespace

Search::Space ranked_space(const codegen::SearchSpace& given, const Problem& problem,
                           const DeviceSpec& limits,
                           std::shared_ptr<const Calibration> calibration) {
  const codegen::SearchSpace space = permissive_first(given, problem);
  const auto spec = kernels_of(space, problem, limits);
  const auto predicted = [=](const TileConfig& tile) {
    return expected_us(spec(tile), problem, limits, nullptr);
  };
  std::function<double(const TileConfig&)> calibrated_us;
  if (calibration && calibration->knows(space.strategy->name())) {
    calibrated_us = [=](const TileConfig& tile) {
      return expected_us(spec(tile), problem, limits, calibration.get());
    };
  }
  const auto legal = [=](const TileConfig& tile) {
    return can_be_tried(spec(tile), problem, limits);
  };
  return {space,
          legal,
          predicted,
          [=](const TileConfig& tile) { return candidate_features(spec(tile), problem, limits); },
          [=](const TileConfig& tile) {
            const auto s = spec(tile);
            const codegen::MainloopCost cost = s.strategy->mainloop(s);
            return std::pair(cost.result_rows, cost.result_columns);
          },
          bounds_of(space, problem, limits),
          std::move(calibrated_us),
          [=](const TileConfig& tile) -> std::optional<TileConfig> {
            const TileConfig plain = space.strategy->without_idle_warps(tile);
            if (plain == tile || !space.holds(plain) || !legal(plain)) return std::nullopt;
            return plain;
          },
          first_order(space, problem, limits)};
}

Expected<void> check_any_legal(const codegen::SearchSpace& given, const Problem& problem,
                               const DeviceSpec& limits) {
  const codegen::SearchSpace space = permissive_first(given, problem);
  const auto spec = kernels_of(space, problem, limits);
  const auto rule = [&](const TileConfig& tile) {
    return codegen::broken_rule(spec(tile), limits);
  };
  if (Search::any_legal(space, [&](const TileConfig& tile) {
        return can_be_tried(spec(tile), problem, limits);
      })) {
    return {};
  }
  std::string why = "the legal ones do not suit these sizes";
  if (!Search::any_legal(space, [&](const TileConfig& tile) { return rule(tile) == nullptr; })) {
    const codegen::Rule& broken = *rule(space.at(0));
    why = fmt::format("the first breaks \"{}\" ({})", broken.name, broken.reason);
  }
  return usage_error("has no tile to try in its space: " + why);
}

Expected<codegen::KernelSpec> best_by_model(const codegen::Strategy& strategy,
                                            const Problem& problem, const DeviceSpec& limits,
                                            int threads) {
  const auto space = codegen::default_search_space(strategy);
  if (!space) return tl::unexpected(space.error());
  const auto refused = [&](const std::string& why) {
    return usage_error(fmt::format("{} {}", strategy.name(), why));
  };
  if (auto any = check_any_legal(*space, problem, limits); !any)
    return refused(any.error().message);
  constexpr uint64_t kSeed = 1;
  Search search({ranked_space(*space, problem, limits, shipped_calibration(limits.arch))}, kSeed,
                threads);
  const auto best = search.seeds(1);
  if (best.empty()) return refused("has no legal tile for " + key(problem));
  return codegen::spec_for(strategy, search.tile(best.front()), problem, limits.arch);
}

}  // namespace gemmtune::tuner
