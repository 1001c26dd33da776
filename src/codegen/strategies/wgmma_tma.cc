#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/registry.h"
#include "codegen/tiling.h"
#include "codegen/wgmma_rules.h"

#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 12> kParameters = {
    "tile_m",     "tile_n",   "tile_k",    "stages",    "consumers",
    "schedule",   "exchange", "cluster_m", "cluster_n", "persistent_blocks",
    "min_blocks", "raster"};

class WgmmaTma final : public Strategy {
 public:
  std::string_view name() const override { return "wgmma_tma"; }
  std::string_view summary() const override {
    return "f16 and bf16 on Hopper's tensor cores: TMA copies by a producer warpgroup, wgmma by "
           "consumers, clusters that share tiles";
  }
  std::string_view template_file() const override { return "wgmma_tma.cuh"; }
  std::string_view template_name() const override { return "WgmmaTma"; }
  bool takes_types() const override { return true; }

  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    return wgmma::supports(problem, capability);
  }
  Arch code_arch(Arch capability) const override { return specific_to(capability); }

  int threads(const TileConfig& tile) const override { return wgmma_threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    return wgmma::stages_bytes(spec) +
           wgmma_results_bytes(t, spec.traits.vector_c, size_bytes(result_type(spec))) +
           wgmma_barriers_bytes(t);
  }
  // As the launch gives them to each thread; setmaxnreg shares them out.
  int estimated_registers(const KernelSpec& spec) const override {
    return WgmmaRegisters(spec.tile).at_start;
  }
  int least_registers(const KernelSpec& spec) const override {
    const WgmmaRegisters registers(spec.tile);
    return registers.shared_out() ? registers.at_start : 0;
  }
  LoadBytes loads(const KernelSpec& spec) const override { return wgmma::loads(spec); }
  MainloopCost mainloop(const KernelSpec& spec) const override { return wgmma::mainloop(spec); }

  bool is_geometry(std::string_view parameter) const override {
    return parameter != "raster" && parameter != "persistent_blocks" && parameter != "min_blocks";
  }

  // A persistent grid of more blocks than there are tiles is the grid without it.
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    const TileConfig& t = spec.tile;
    return t.persistent_blocks < wgmma::cluster_grid(t, problem).blocks;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    return {wgmma::cluster_grid(spec.tile, problem).blocks, problem.shape.k, 1, 0};
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = Strategy::entry_points(spec);
    // Without it the assembler may leave fewer registers to share out than setmaxnreg asks for.
    entries.front().min_blocks = at_least_one(spec.tile.min_blocks);
    entries.front().parameters = {ParameterKind::gemm, ParameterKind::tensor_map,
                                  ParameterKind::tensor_map};
    if (wgmma::stores_boxes(spec)) entries.front().parameters.push_back(ParameterKind::tensor_map);
    return entries;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan;
    plan.launches.push_back(launch_of(spec, 0, grid(spec.tile, problem)));
    KernelLaunch& launch = plan.launches.front();
    launch.config.cluster.x = static_cast<uint32_t>(cluster_blocks(spec.tile));
    launch.arguments = {GemmArgument{}, wgmma::map_of_a(spec, problem),
                        wgmma::map_of_b(spec, problem)};
    if (const auto c = wgmma::map_of_c(spec, problem)) launch.arguments.emplace_back(*c);
    return plan;
  }

  std::vector<SourceHeader> written_headers(const KernelSpec& spec) const override {
    return {wgmma::instruction(spec)};
  }

 private:
  static BlockCount grid(const TileConfig& tile, const Problem& problem) {
    BlockCount tiles = wgmma::cluster_grid(tile, problem);
    if (tile.persistent_blocks == 0) return tiles;
    return {std::min<int64_t>(tiles.blocks, tile.persistent_blocks),
            fmt::format("min({}, {})", tile.persistent_blocks, tiles.formula)};
  }

  std::vector<Rule> rules_ =
      tiling::joined({wgmma::tile_rules(), wgmma::cluster_rules(), tiling::limit_rules()});
};

}  // namespace

const Strategy& wgmma_tma() {
  static const WgmmaTma strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
