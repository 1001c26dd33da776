#include <fmt/format.h>

#include <array>

#include "codegen/k_major_operands.h"
#include "codegen/registry.h"
#include "codegen/wgmma_direct_strategy.h"
#include "codegen/workspace_limits.h"

#include "parts/shared/direct_block.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

using k_major_operands::kMostTiles;
using k_major_operands::lines_of_a;
using k_major_operands::lines_of_b;

constexpr int kElementBytes = 4;
constexpr int kEntry = 1;

bool is_direct_a(const KernelSpec& spec) {
  return gemmtune::is_direct_a(spec.tile, spec.traits);
}
// Whether the operand that TMA copies is one of the workspace.
bool copies(const KernelSpec& spec) {
  return needs_k_major_a(spec.traits) && needs_k_major_b(spec.traits);
}
char copied_letter(const KernelSpec& spec) {
  return is_direct_a(spec) ? 'b' : 'a';
}
KMajorLines copied_lines(const KernelSpec& spec, const Problem& problem) {
  return is_direct_a(spec) ? lines_of_b(problem) : lines_of_a(problem);
}
int64_t copied_bytes(const KernelSpec& spec, const Problem& problem) {
  return copies(spec) ? copied_lines(spec, problem).elements() * kElementBytes : 0;
}

constexpr std::array kRules = {
    Rule{"an operand whose k is not contiguous, or that 16 bytes do not divide",
         "without one there is nothing for threads to load",
         [](const RuleInput& in) {
           return needs_k_major_a(in.spec.traits) || needs_k_major_b(in.spec.traits);
         }},
    Rule{"tile_k of 32, and whole 32 lines, 256 at most, of what threads load",
         "a warp loads 32 elements at a time",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const int lines = is_direct_a(in.spec) ? t.tile_m : t.tile_n;
           return t.tile_k == kDirectTf32Depth && lines > 0 && lines % kDirectTf32Lines == 0 &&
                  lines <= kMostDirectTf32Lines;
         }},
};

class WgmmaDirectTf32 final : public WgmmaDirectStrategy {
 public:
  WgmmaDirectTf32() : WgmmaDirectStrategy(kRules) {}

  std::string_view name() const override { return "wgmma_direct_tf32"; }
  std::string_view summary() const override {
    return "tf32 in any layout: producer warps load an operand whose k is not contiguous, TMA "
           "copies the other";
  }
  std::string_view template_file() const override { return "wgmma_direct_tf32.cuh"; }
  std::string_view template_name() const override { return "WgmmaDirectTf32"; }

  bool loads_a(const KernelSpec& spec) const override { return is_direct_a(spec); }
  DirectRegisters registers(const KernelSpec& spec) const override {
    return direct_tf32_registers(spec.tile, spec.traits);
  }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (problem.type != DataType::f32 || problem.math != MathMode::tf32)
      return make_error(ErrorKind::unsupported, "computes f32 with --math tf32 only");
    if (lines_of_a(problem).tiles() >= kMostTiles || lines_of_b(problem).tiles() >= kMostTiles)
      return make_error(ErrorKind::unsupported, "copies an operand in at most 2^31 tiles");
    return wgmma::fits(problem, capability);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    return copied_bytes(spec, problem) <= kMostCopiesBytes &&
           WgmmaStrategy::worthwhile(spec, problem);
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    return k_major_operands::k_major(spec.traits);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaDirectStrategy::entry_points(spec);
    if (copies(spec)) entries.push_back({"_prepare", "prepare", kKMajorThreads, "kPrepareThreads"});
    return entries;
  }

  MainloopCost mainloop(const KernelSpec& spec) const override {
    MainloopCost cost = WgmmaStrategy::mainloop(spec);
    cost.direct_lines = is_direct_a(spec) ? spec.tile.tile_m : spec.tile.tile_n;
    return cost;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaStrategy::work(spec, problem);
    if (!copies(spec)) return work;
    ++work.launches;
    work.reduction_bytes += 2 * copied_bytes(spec, problem);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaDirectStrategy::launch_plan(spec, problem);
    if (!copies(spec)) return plan;
    const char letter = copied_letter(spec);
    plan.quantities = k_major_operands::quantities_of(letter);
    plan.launches.insert(plan.launches.begin(), launch_of(spec, kEntry,
                                                          {copied_lines(spec, problem).tiles(),
                                                           fmt::format("tiles_{}", letter)}));
    plan.workspace_bytes = copied_bytes(spec, problem);
    plan.workspace_formula = fmt::format("{0} * entries_{1} * plane_{1}", kElementBytes, letter);
    return plan;
  }

 private:
  wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const override {
    if (is_direct_a(spec) || !copies(spec)) return WgmmaStrategy::place_of_a(spec, problem);
    return k_major_operands::place_of(lines_of_a(problem), problem.batch, 'a');
  }
  wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const override {
    if (!is_direct_a(spec) || !copies(spec)) return WgmmaStrategy::place_of_b(spec, problem);
    return k_major_operands::place_of(lines_of_b(problem), problem.batch, 'b');
  }
};

}  // namespace

const Strategy& wgmma_direct_tf32() {
  static const WgmmaDirectTf32 strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
