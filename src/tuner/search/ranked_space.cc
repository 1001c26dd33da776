#include "tuner/search/ranked_space.h"

#include <fmt/format.h>

#include "tuner/model/candidate_features.h"
#include "tuner/model/performance_model.h"

namespace gemmtune::tuner {
namespace {

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

}  // namespace

Search::Space ranked_space(const codegen::SearchSpace& space, const Problem& problem,
                           const DeviceSpec& limits) {
  const auto spec = kernels_of(space, problem, limits);
  return {space, [=](const TileConfig& tile) { return can_be_tried(spec(tile), problem, limits); },
          [=](const TileConfig& tile) {
            const auto s = spec(tile);
            return predict(s, s.strategy->estimated_registers(s), problem, limits).total_us;
          },
          [=](const TileConfig& tile) { return candidate_features(spec(tile), problem, limits); },
          [=](const TileConfig& tile) {
            const auto s = spec(tile);
            const codegen::MainloopCost cost = s.strategy->mainloop(s, limits);
            return std::pair(cost.result_rows, cost.result_columns);
          }};
}

Expected<void> check_any_legal(const codegen::SearchSpace& space, const Problem& problem,
                               const DeviceSpec& limits) {
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
  Search search({ranked_space(*space, problem, limits)}, kSeed, ideal_us(problem, limits), threads);
  const auto best = search.seeds(1);
  if (best.empty()) return refused("has no legal tile for " + key(problem));
  return codegen::spec_for(strategy, search.tile(best.front()), problem, limits.arch);
}

}  // namespace gemmtune::tuner
