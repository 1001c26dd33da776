#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/mma_strategy.h"
#include "codegen/registry.h"
#include "codegen/slices.h"
#include "codegen/stream_k.h"
#include "codegen/tiling.h"

#include "parts/shared/partial_tiles.h"
#include "parts/shared/stream_k_ranges.h"

namespace gemmtune::codegen {
namespace {

// What a launch plan is made from does not name the device, so the tuner finds the multiple of its
// SMs that is best for sharing_blocks as it finds any other parameter.
constexpr std::array<std::string_view, 13> kParameters = {
    "tile_m", "tile_n",    "tile_k",    "warp_m",         "warp_n",     "stages", "copy",
    "order",  "fragments", "promotion", "sharing_blocks", "min_blocks", "raster"};

constexpr std::array kOwnRules = {
    Rule{"at least 2 sharing blocks", "with one this is mma_multistage",
         [](const RuleInput& in) { return in.spec.tile.sharing_blocks >= 2; }},
};

StreamKRanges ranges_of(const TileConfig& tile, const Problem& problem) {
  return stream_k_ranges(tile, stream_k::extents(problem));
}

// Blocks that have k tiles to share.
int64_t busy_blocks(const StreamKRanges& ranges) {
  return std::min(ranges.length(), ranges.blocks);
}

// Partial sums that are left in the workspace, at most: each place where one block's range ends and
// the next begins cuts a tile.
int64_t partial_tiles(const StreamKRanges& ranges) {
  const int64_t cuts = std::max<int64_t>(0, busy_blocks(ranges) - 1);
  return cuts + std::min<int64_t>(ranges.split_tiles, cuts);
}

class MmaStreamK final : public MmaStrategy {
 public:
  MmaStreamK() : MmaStrategy(tiling::joined({kOwnRules, stream_k::rules()})) {}

  std::string_view name() const override { return "mma_stream_k"; }
  std::string_view summary() const override {
    return "mma_multistage with even shares of all multiplications for a fixed number of blocks "
           "(stream-K)";
  }
  std::string_view template_file() const override { return "mma_stream_k.cuh"; }
  std::string_view template_name() const override { return "MmaStreamK"; }
  bool forgets_b() const override { return true; }
  std::span<const std::string_view> parameters() const override { return kParameters; }

  int64_t most_k() const override { return stream_k::kMostK; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    if (auto counted = stream_k::supports(problem); !counted) return counted;
    return MmaStrategy::supports(problem, arch);
  }

  // A range of at least a k tile for each block.
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    const StreamKRanges ranges = ranges_of(spec.tile, problem);
    if (ranges.split_tiles == 0) return true;
    return ranges.length() >= ranges.blocks &&
           workspace_bytes(spec.tile, ranges) <= slices::kMaxWorkspaceBytes;
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = Strategy::entry_points(spec);
    entries.push_back(slices::finish_entry_point());
    return entries;
  }

  // The depth is the average: ranges and whole tiles differ by less than a factor of two.
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    const StreamKRanges ranges = ranges_of(spec.tile, problem);
    const int64_t k_tiles = int64_t{ranges.tiles} * ranges.tiles_k;
    const int64_t blocks = ranges.grid();
    KernelWork work{blocks, (k_tiles + blocks - 1) / blocks * spec.tile.tile_k, 1, 0};
    if (ranges.split_tiles == 0) return work;
    work.launches = 2;
    work.reduction_bytes = 2 * partial_tiles(ranges) * slices::slot_bytes(spec.tile);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    const TileConfig& t = spec.tile;
    const int floats = slot_floats(t);
    const StreamKRanges ranges = ranges_of(t, problem);
    LaunchPlan plan;
    plan.preamble =
        stream_k::preamble("const auto ranges = gemmtune::stream_k_ranges(kTile, args);");
    plan.launches.push_back(launch_of(spec, 0, {ranges.grid(), "ranges.grid()"}));
    if (ranges.split_tiles == 0) return plan;
    plan.launches.push_back(launch_of(
        spec, 1, {ranges.finish_grid(floats), fmt::format("ranges.finish_grid({})", floats)}));
    plan.launches.back().condition = "ranges.split_tiles > 0";
    plan.writes_c_early = true;
    plan.workspace_bytes = workspace_bytes(t, ranges);
    plan.workspace_formula = fmt::format("{} * ranges.slots()", slices::slot_bytes(t));
    return plan;
  }

 private:
  static int64_t workspace_bytes(const TileConfig& tile, const StreamKRanges& ranges) {
    return ranges.slots() * slices::slot_bytes(tile);
  }
};

}  // namespace

const Strategy& mma_stream_k() {
  static const MmaStreamK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
