#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/registry.h"
#include "codegen/slices.h"
#include "codegen/tiling.h"
#include "codegen/wgmma_direct_tf32_strategy.h"

#include "parts/shared/partial_tiles.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 8> kParameters = {
    "tile_m", "tile_n", "tile_k", "stages", "consumers", "slices", "cluster_m", "cluster_n"};

constexpr std::array kRules = {
    Rule{"at least 2 slices", "with one this is wgmma_direct_tf32",
         [](const RuleInput& in) { return in.spec.tile.slices >= 2; }},
};

class WgmmaDirectSplitK final : public WgmmaDirectTf32Strategy {
 public:
  std::string_view name() const override { return "wgmma_direct_split_k"; }
  std::string_view summary() const override {
    return "wgmma_direct_tf32 with k split over blocks, for gradients of weights over many rows";
  }
  std::string_view template_file() const override { return "wgmma_direct_split_k.cuh"; }
  std::string_view template_name() const override { return "WgmmaDirectSplitK"; }

  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }
  int64_t slow_rows(const TileConfig&, const Problem&, bool) const override { return 0; }

  int smem_bytes(const KernelSpec& spec) const override {
    return wgmma::stages_bytes(spec) + wgmma_barriers_bytes(spec.tile);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    return spec.tile.slices <= slices::tiles_k(spec, problem) &&
           slices::workspace_bytes(spec, problem) <= slices::kMaxWorkspaceBytes &&
           WgmmaDirectTf32Strategy::worthwhile(spec, problem);
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaDirectTf32Strategy::work(spec, problem);
    const int64_t copies = work.reduction_bytes;
    slices::add_work(spec, problem, work);
    work.reduction_bytes += copies;
    const int64_t count = spec.tile.slices;
    work.block_depth = (slices::tiles_k(spec, problem) + count - 1) / count * spec.tile.tile_k;
    return work;
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaDirectTf32Strategy::entry_points(spec);
    entries.front().parameters = {ParameterKind::gemm, ParameterKind::tensor_map};
    entries.push_back(slices::finish_entry_point());
    return entries;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaDirectTf32Strategy::launch_plan(spec, problem);
    const bool copies = copied(spec).any();
    plan.launches.at(copies ? 1 : 0).arguments.resize(2);
    const TileConfig& t = spec.tile;
    const int blocks = finish_blocks_of_tile(slot_floats(t), kPartialVector,
                                             finish_ways(t.slices, kPartialVector));
    plan.launches.push_back(launch_of(spec, copies ? 2 : 1, tiling::tile_grid(t, problem, blocks)));
    plan.workspace_bytes += slices::workspace_bytes(spec, problem);
    const std::string slots = fmt::format("{} * {}", tiling::tile_grid(t, problem).formula,
                                          t.slices * slices::slot_bytes(t));
    plan.workspace_formula = copies ? fmt::format("{} + {}", plan.workspace_formula, slots) : slots;
    return plan;
  }

 private:
  BlockCount grid(const TileConfig& tile, const Problem& problem) const override {
    return wgmma::sliced_cluster_grid(tile, problem);
  }

  std::vector<Rule> rules_ = tiling::joined({kRules, WgmmaStrategy::rules()});
};

}  // namespace

const Strategy& wgmma_direct_split_k() {
  static const WgmmaDirectSplitK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
