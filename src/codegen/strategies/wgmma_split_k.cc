#include <algorithm>
#include <array>

#include "codegen/registry.h"
#include "codegen/sliced_strategy.h"
#include "codegen/slices.h"
#include "codegen/tiling.h"
#include "codegen/wgmma_rules.h"

#include "parts/shared/cluster_sums.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 12> kParameters = {
    "tile_m", "tile_n",    "tile_k",    "stages",    "consumers",  "exchange",
    "slices", "reduction", "cluster_m", "cluster_n", "min_blocks", "raster"};

bool in_cluster(const TileConfig& tile) {
  return tile.reduction == kReduceCluster;
}

constexpr std::array kOwnRules = {
    Rule{"at least 2 slices", "with one this is wgmma_tma",
         [](const RuleInput& in) { return in.spec.tile.slices >= 2; }},
    Rule{"no atomic additions", "each would round a C of 16 bits",
         [](const RuleInput& in) { return in.spec.tile.reduction != kReduceAtomic; }},
    Rule{"clusters share tiles or sums", "a block is in one cluster",
         [](const RuleInput& in) {
           return !in_cluster(in.spec.tile) || cluster_blocks(in.spec.tile) == 1;
         }},
    Rule{"clusters that share tiles go through them in row order", "their slots lie so",
         [](const RuleInput& in) {
           return in.spec.tile.raster <= 1 || cluster_blocks(in.spec.tile) == 1;
         }},
};

class WgmmaSplitK final : public SlicedStrategy {
 public:
  std::string_view name() const override { return "wgmma_split_k"; }
  std::string_view summary() const override {
    return "wgmma_tma with k split over blocks, for tiles that do not fill the card";
  }
  std::string_view template_file() const override { return "wgmma_split_k.cuh"; }
  std::string_view template_name() const override { return "WgmmaSplitK"; }
  bool takes_types() const override { return true; }
  bool forgets_b() const override { return true; }
  int64_t slow_rows(const TileConfig& tile, const Problem& problem, bool) const override {
    return wgmma::slow_rows(tile, problem, false);
  }

  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    return wgmma::supports(problem, capability);
  }
  Arch code_arch(Arch capability) const override { return specific_to(capability); }

  int threads(const TileConfig& tile) const override { return wgmma_threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override {
    const int stages = wgmma::stages_bytes(spec);
    const int behind = in_cluster(spec.tile) ? cluster_sums_bytes(spec.tile, stages) : 0;
    return stages + behind + wgmma_barriers_bytes(spec.tile);
  }
  int estimated_registers(const KernelSpec& spec) const override {
    return wgmma::consumer_registers(spec);
  }
  bool overlaps_previous() const override { return true; }
  LoadBytes loads(const KernelSpec& spec) const override { return wgmma::loads(spec); }
  MainloopCost mainloop(const KernelSpec& spec) const override { return wgmma::mainloop(spec); }

  bool is_geometry(std::string_view parameter) const override {
    return parameter == "consumers" || parameter == "exchange" || parameter == "cluster_m" ||
           parameter == "cluster_n" || Strategy::is_geometry(parameter);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = SlicedStrategy::entry_points(spec);
    entries.front().parameters = {ParameterKind::gemm, ParameterKind::tensor_map,
                                  ParameterKind::tensor_map};
    return entries;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    using namespace wgmma;
    LaunchPlan plan = SlicedStrategy::launch_plan(spec, problem);
    if (cluster_blocks(spec.tile) > 1) {
      plan.launches.front() = launch_of(spec, 0, sliced_cluster_grid(spec.tile, problem));
      plan.launches.front().config.cluster.x = static_cast<uint32_t>(cluster_blocks(spec.tile));
    }
    plan.launches.front().arguments = {GemmArgument{spec.tile.raster},
                                       map_of_a(spec, problem.shape, place_of_a(problem)),
                                       map_of_b(spec, problem.shape, place_of_b(problem))};
    return plan;
  }

  std::vector<SourceHeader> written_headers(const KernelSpec& spec) const override {
    return {wgmma::instruction(spec)};
  }

 private:
  std::vector<Rule> rules_ = tiling::joined({kOwnRules, slices::rules(), wgmma::tile_rules(),
                                             wgmma::cluster_rules(), tiling::limit_rules()});
};

}  // namespace

const Strategy& wgmma_split_k() {
  static const WgmmaSplitK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
