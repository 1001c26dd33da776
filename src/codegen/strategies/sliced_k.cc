#include <algorithm>
#include <array>

#include "codegen/multistage_rules.h"
#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/sliced_strategy.h"
#include "codegen/slices.h"
#include "codegen/tiling.h"

#include "parts/shared/partial_tiles.h"
#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 17> kParameters = {
    "tile_m",   "tile_n", "tile_k",    "warp_m",     "warp_n",    "thread_m",
    "thread_n", "stages", "lanes",     "order",      "fragments", "ahead",
    "groups",   "slices", "reduction", "min_blocks", "raster"};

constexpr std::array kOwnRules = {
    Rule{"at least 2 groups", "with one this is multistage or split_k",
         [](const RuleInput& in) { return in.spec.tile.groups >= 2; }},
    Rule{"at least 1 slice", "a tile of C is computed by one block, or its k is split over several",
         [](const RuleInput& in) { return in.spec.tile.slices >= 1; }},
};

std::vector<Rule> all_rules() {
  return tiling::joined({simt::rules_with(multistage_loop::rules()), kOwnRules,
                         slices::group_rules(), slices::rules()});
}

class SlicedK final : public SlicedStrategy {
 public:
  SlicedK() : rules_(all_rules()) {}

  std::string_view name() const override { return "sliced_k"; }
  std::string_view summary() const override {
    return "multistage with k split over groups of a block's warps, and over blocks if asked";
  }
  std::string_view template_file() const override { return "sliced_k.cuh"; }
  std::string_view template_name() const override { return "SlicedK"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    return multistage_loop::supports(problem, arch);
  }

  int threads(const TileConfig& tile) const override {
    return tile.groups * warp_tile_threads(tile);
  }

  int smem_bytes(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    return t.groups * std::max(multistage_loop::smem_bytes(spec),
                               partial_tile_bytes(spec.tile, kSimtPartialPadding));
  }

  int estimated_registers(const KernelSpec& spec) const override {
    return multistage_loop::estimated_registers(spec);
  }

  MainloopCost mainloop(const KernelSpec& spec) const override {
    return either_loop::with_copies(SlicedStrategy::mainloop(spec), spec.tile);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& sliced_k() {
  static const SlicedK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
