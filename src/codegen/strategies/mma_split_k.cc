#include <algorithm>
#include <array>

#include "codegen/mma_rules.h"
#include "codegen/registry.h"
#include "codegen/sliced_strategy.h"
#include "codegen/slices.h"
#include "codegen/tiling.h"

#include "parts/shared/partial_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 15> kParameters = {
    "tile_m",    "tile_n",    "tile_k", "warp_m", "warp_n",    "stages",     "copy",  "order",
    "fragments", "promotion", "groups", "slices", "reduction", "min_blocks", "raster"};

bool through_workspace(const TileConfig& tile) {
  return tile.slices > 1 && tile.reduction == kReduceWorkspace;
}

constexpr std::array kOwnRules = {
    Rule{"at least 1 group and 1 slice", "each is a number of parts of k",
         [](const RuleInput& in) { return in.spec.tile.groups >= 1 && in.spec.tile.slices >= 1; }},
    Rule{"k is split", "with one group and one slice this is mma_multistage",
         [](const RuleInput& in) { return in.spec.tile.groups > 1 || in.spec.tile.slices > 1; }},
    Rule{"no atomic additions", "each would round a C of 16 bits",
         [](const RuleInput& in) { return in.spec.tile.reduction != kReduceAtomic; }},
};

class MmaSplitK final : public SlicedStrategy {
 public:
  MmaSplitK()
      : rules_(tiling::joined({kOwnRules, slices::group_rules(), slices::rules(), mma::rules()})) {}

  std::string_view name() const override { return "mma_split_k"; }
  std::string_view summary() const override {
    return "mma_multistage with k split over groups of a block's warps, over blocks, or both";
  }
  std::string_view template_file() const override { return "mma_split_k.cuh"; }
  std::string_view template_name() const override { return "MmaSplitK"; }
  bool takes_types() const override { return true; }
  bool forgets_b() const override { return true; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    return mma::supports(problem, arch);
  }

  int threads(const TileConfig& tile) const override { return tile.groups * mma::threads(tile); }

  int smem_bytes(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    const bool through_shared = t.groups > 1 || !through_workspace(t);
    const int partial = through_shared ? partial_tile_bytes(t, kMmaPartialPadding) : 0;
    return t.groups * std::max(mma::pipeline_bytes(spec), partial);
  }

  int estimated_registers(const KernelSpec& spec) const override {
    return mma::estimated_registers(spec);
  }
  LoadBytes loads(const KernelSpec& spec) const override { return mma::loads(spec); }

  MainloopCost mainloop(const KernelSpec& spec) const override { return mma::mainloop(spec); }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& mma_split_k() {
  static const MmaSplitK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
