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
    "tile_m",   "tile_n",     "tile_k", "warp_m",    "warp_n", "thread_m",
    "thread_n", "stages",     "copy",   "lanes",     "order",  "fragments",
    "ahead",    "min_blocks", "slices", "reduction", "raster"};

constexpr std::array kOwnRules = {
    Rule{"at least 2 slices", "with one this is double_buffer or multistage",
         [](const RuleInput& in) { return in.spec.tile.slices >= 2; }},
    Rule{"at least 2 stages", "with fewer copies and product cannot overlap",
         [](const RuleInput& in) { return in.spec.tile.stages >= 2; }},
    Rule{"a known copy", "through registers (0) or by cp.async (1)",
         [](const RuleInput& in) {
           return in.spec.tile.copy == kCopyRegisters || in.spec.tile.copy == kCopyAsync;
         }},
    Rule{"2 stages through registers, more by cp.async",
         "registers hold one tile; a pipeline pays from 3 stages on",
         [](const RuleInput& in) {
           return (in.spec.tile.stages == 2) == either_loop::through_registers(in.spec.tile);
         }},
    Rule{"ahead with cp.async", "it is a way of the pipeline",
         [](const RuleInput& in) {
           return in.spec.tile.ahead == 0 || !either_loop::through_registers(in.spec.tile);
         }},
    Rule{"copies by cp.async need sm_80", "older archs copy through registers",
         either_loop::arch_copies},
    Rule{"threads or warps divide the copies of a tile", "threads of a warp issue the same number",
         either_loop::copies_divide},
};

std::vector<Rule> all_rules() {
  return tiling::joined({simt::rules_with(kOwnRules), slices::rules()});
}

class SplitK final : public SlicedStrategy {
 public:
  SplitK() : rules_(all_rules()) {}

  std::string_view name() const override { return "split_k"; }
  std::string_view summary() const override {
    return "double_buffer or multistage with k split over several blocks per tile of C";
  }
  std::string_view template_file() const override { return "split_k.cuh"; }
  std::string_view template_name() const override { return "SplitK"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch) const override {
    return simt::supports_f32(problem);
  }

  int threads(const TileConfig& tile) const override { return warp_tile_threads(tile); }

  int smem_bytes(const KernelSpec& spec) const override {
    const int pipeline = multistage_loop::smem_bytes(spec);
    if (spec.tile.reduction != kReduceCluster) return pipeline;
    return std::max(pipeline, partial_tile_bytes(spec.tile, kSimtPartialPadding));
  }

  int estimated_registers(const KernelSpec& spec) const override {
    return either_loop::estimated_registers(spec);
  }

  MainloopCost mainloop(const KernelSpec& spec) const override {
    return either_loop::with_copies(SlicedStrategy::mainloop(spec), spec.tile);
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
