#include <algorithm>
#include <array>

#include "codegen/multistage_rules.h"
#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/sliced_strategy.h"
#include "codegen/slices.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 17> kParameters = {
    "tile_m",   "tile_n",     "tile_k", "warp_m",    "warp_n",    "thread_m",
    "thread_n", "stages",     "lanes",  "order",     "fragments", "unroll",
    "ahead",    "min_blocks", "slices", "reduction", "raster"};

constexpr std::array kOwnRules = {
    Rule{"at least 2 slices", "with one this is double_buffer or multistage",
         [](const RuleInput& in) { return in.spec.tile.slices >= 2; }},
    Rule{"at least 2 stages", "with fewer copies and product cannot overlap",
         [](const RuleInput& in) { return in.spec.tile.stages >= 2; }},
    Rule{"ahead and unroll with 3 stages", "they are ways of the cp.async pipeline",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return (t.ahead == 0 && t.unroll == 0) || !either_loop::through_registers(t);
         }},
    Rule{"3 and more stages need sm_80", "they are copied by cp.async", either_loop::arch_copies},
    Rule{"threads or warps divide the copies of a tile", "threads of a warp issue the same number",
         either_loop::copies_divide},
};

std::vector<Rule> all_rules() {
  return simt::joined({simt::rules_with(kOwnRules), slices::rules()});
}

class SplitK final : public SlicedStrategy {
 public:
  SplitK() : rules_(all_rules()) {}

  std::string_view name() const override { return "split_k"; }
  std::string_view summary() const override {
    return "double_buffer or multistage with k shared out over several blocks a tile of C";
  }
  std::string_view template_file() const override { return "split_k.cuh"; }
  std::string_view template_name() const override { return "SplitK"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch) const override {
    return simt::supports_f32(problem);
  }

  int threads(const TileConfig& tile) const override { return simt::threads(tile); }

  int smem_bytes(const KernelSpec& spec) const override {
    const int pipeline = multistage_loop::smem_bytes(spec);
    if (spec.tile.reduction != kReduceCluster) return pipeline;
    return std::max(pipeline, slices::partial_tile_bytes(spec));
  }

  int estimated_registers(const KernelSpec& spec) const override {
    return either_loop::estimated_registers(spec);
  }

  MainloopCost mainloop(const KernelSpec& spec, const DeviceSpec& device) const override {
    return either_loop::with_copies(SlicedStrategy::mainloop(spec, device), spec.tile);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& split_k() {
  static const SplitK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
