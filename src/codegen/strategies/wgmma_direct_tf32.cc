#include <array>

#include "codegen/k_major_operands.h"
#include "codegen/registry.h"
#include "codegen/wgmma_direct_strategy.h"
#include "codegen/workspace_limits.h"

#include "parts/shared/direct_block.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

using k_major_operands::Copied;
using k_major_operands::kMostTiles;
using k_major_operands::lines_of_a;
using k_major_operands::lines_of_b;

bool is_direct_a(const KernelSpec& spec) {
  return gemmtune::is_direct_a(spec.tile, spec.traits);
}
int direct_lines(const KernelSpec& spec) {
  return is_direct_a(spec) ? spec.tile.tile_m : spec.tile.tile_n;
}
// What TMA copies, if it needs k contiguous, too.
Copied copied(const KernelSpec& spec) {
  const KernelTraits others = without_direct(spec.tile, spec.traits);
  return {needs_k_major_a(others), needs_k_major_b(others)};
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
           const int lines = direct_lines(in.spec);
           return in.spec.tile.tile_k == kDirectTf32Depth && lines > 0 &&
                  lines % kDirectTf32Lines == 0 && lines <= kMostDirectTf32Lines;
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
    return k_major_operands::bytes(copied(spec), problem) <= kMostCopiesBytes &&
           WgmmaStrategy::worthwhile(spec, problem);
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    return k_major_operands::k_major(spec.traits);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaDirectStrategy::entry_points(spec);
    if (copied(spec).any()) entries.push_back(k_major_operands::entry_point());
    return entries;
  }

  MainloopCost mainloop(const KernelSpec& spec) const override {
    MainloopCost cost = WgmmaStrategy::mainloop(spec);
    cost.direct_lines = direct_lines(spec);
    return cost;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaStrategy::work(spec, problem);
    if (copied(spec).any()) k_major_operands::add_work(copied(spec), problem, work);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaDirectStrategy::launch_plan(spec, problem);
    if (copied(spec).any()) k_major_operands::add_launch(spec, copied(spec), problem, plan);
    return plan;
  }

 private:
  wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const override {
    return copied(spec).a ? k_major_operands::place_of_a(problem)
                          : WgmmaStrategy::place_of_a(spec, problem);
  }
  wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const override {
    return copied(spec).b ? k_major_operands::place_of_b(copied(spec), problem)
                          : WgmmaStrategy::place_of_b(spec, problem);
  }
};

}  // namespace

const Strategy& wgmma_direct_tf32() {
  static const WgmmaDirectTf32 strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
