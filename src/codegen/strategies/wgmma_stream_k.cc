#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/registry.h"
#include "codegen/slices.h"
#include "codegen/stream_k.h"
#include "codegen/tiling.h"
#include "codegen/wgmma_strategy.h"

#include "parts/shared/wgmma_stream_k.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 11> kParameters = {
    "tile_m",    "tile_n",    "tile_k",         "stages",     "consumers", "exchange",
    "cluster_m", "cluster_n", "sharing_blocks", "min_blocks", "raster"};

constexpr std::array kOwnRules = {
    Rule{"at least 2 sharing clusters", "with one this is wgmma_tma",
         [](const RuleInput& in) {
           return in.spec.tile.sharing_blocks >= 2 * cluster_blocks(in.spec.tile);
         }},
    Rule{"sharing blocks in whole clusters", "the blocks of a cluster share tiles",
         [](const RuleInput& in) {
           return in.spec.tile.sharing_blocks % cluster_blocks(in.spec.tile) == 0;
         }},
};

WgmmaStreamKRanges ranges_of(const TileConfig& tile, const Problem& problem) {
  return {tile, stream_k::extents(problem)};
}

// Clusters whose sums the one that begins a tile adds to its own. Where ranges are longer than
// tiles it is one or none.
int64_t others_of_tile(const WgmmaStreamKRanges& ranges) {
  if (ranges.split_tiles == 0) return 0;
  const int range = std::max(1, ranges.length() / ranges.blocks);
  return std::max(1, (ranges.tiles_k - 1) / range);
}

class WgmmaStreamK final : public WgmmaStrategy {
 public:
  WgmmaStreamK() : WgmmaStrategy(tiling::joined({kOwnRules, stream_k::rules()})) {}

  std::string_view name() const override { return "wgmma_stream_k"; }
  std::string_view summary() const override {
    return "wgmma_tma with even shares of all multiplications for a fixed number of blocks "
           "(stream-K), in one launch";
  }
  std::string_view template_file() const override { return "wgmma_stream_k.cuh"; }
  std::string_view template_name() const override { return "WgmmaStreamK"; }
  bool forgets_b() const override { return true; }
  std::span<const std::string_view> parameters() const override { return kParameters; }

  int64_t most_k() const override { return stream_k::kMostK; }

  int64_t slow_rows(const TileConfig& tile, const Problem& problem, bool) const override {
    return wgmma::slow_rows(tile, problem, false);
  }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (auto counted = stream_k::supports(problem); !counted) return counted;
    if (problem.accumulator == DataType::f16) {
      return make_error(ErrorKind::unsupported, "adds up sums in f32");
    }
    return WgmmaStrategy::supports(problem, capability);
  }

  // A range of at least a k tile for each cluster.
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    const WgmmaStreamKRanges ranges = ranges_of(spec.tile, problem);
    return ranges.split_tiles > 0 && ranges.length() >= ranges.blocks &&
           workspace_bytes(spec.tile) <= slices::kMaxWorkspaceBytes;
  }

  // The depth is the average of the clusters'.
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    const WgmmaStreamKRanges ranges = ranges_of(spec.tile, problem);
    const int64_t k_tiles = int64_t{ranges.tiles} * ranges.tiles_k;
    const int64_t clusters = ranges.busy();
    KernelWork work{clusters * cluster_blocks(spec.tile),
                    (k_tiles + clusters - 1) / clusters * spec.tile.tile_k, 1};
    work.handed_bytes = others_of_tile(ranges) * slices::slot_bytes(spec.tile);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    const TileConfig& t = spec.tile;
    const WgmmaStreamKRanges ranges = ranges_of(t, problem);
    LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
    plan.preamble = stream_k::preamble("const gemmtune::WgmmaStreamKRanges ranges(kTile, args);");
    const int64_t of_cluster = workspace_bytes(t) / (t.sharing_blocks / cluster_blocks(t));
    plan.workspace_bytes = of_cluster * ranges.sharing();
    plan.workspace_formula = fmt::format("{} * ranges.sharing()", of_cluster);
    if (ranges.split_tiles > 0) plan.awaited_bytes = WgmmaSumSlots(t).words_bytes();
    return plan;
  }

 protected:
  BlockCount grid(const TileConfig& tile, const Problem& problem) const override {
    const int blocks = cluster_blocks(tile);
    return {int64_t{ranges_of(tile, problem).busy()} * blocks,
            fmt::format("ranges.busy() * {}", blocks)};
  }

 private:
  static int64_t workspace_bytes(const TileConfig& tile) { return WgmmaSumSlots(tile).bytes(); }
};

}  // namespace

const Strategy& wgmma_stream_k() {
  static const WgmmaStreamK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
