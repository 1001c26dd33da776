#include "codegen/wgmma_direct_tf32_strategy.h"

#include <array>

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

}  // namespace

WgmmaDirectTf32Strategy::WgmmaDirectTf32Strategy() : WgmmaDirectStrategy(kRules) {}

Copied WgmmaDirectTf32Strategy::copied(const KernelSpec& spec) {
  const KernelTraits others = without_direct(spec.tile, spec.traits);
  return {needs_k_major_a(others), needs_k_major_b(others)};
}

bool WgmmaDirectTf32Strategy::loads_a(const KernelSpec& spec) const {
  return is_direct_a(spec);
}
DirectRegisters WgmmaDirectTf32Strategy::registers(const KernelSpec& spec) const {
  return direct_tf32_registers(spec.tile, spec.traits);
}

Expected<void> WgmmaDirectTf32Strategy::supports(const Problem& problem, Arch capability) const {
  if (problem.type != DataType::f32 || problem.math != MathMode::tf32)
    return make_error(ErrorKind::unsupported, "computes f32 with --math tf32 only");
  if (lines_of_a(problem).tiles() >= kMostTiles || lines_of_b(problem).tiles() >= kMostTiles)
    return make_error(ErrorKind::unsupported, "copies an operand in at most 2^31 tiles");
  return wgmma::fits(problem, capability);
}

bool WgmmaDirectTf32Strategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  return k_major_operands::bytes(copied(spec), problem) <= kMostCopiesBytes &&
         WgmmaStrategy::worthwhile(spec, problem);
}

KernelTraits WgmmaDirectTf32Strategy::main_traits(const KernelSpec& spec) const {
  return k_major_operands::k_major(spec.traits);
}

std::vector<EntryPoint> WgmmaDirectTf32Strategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = WgmmaDirectStrategy::entry_points(spec);
  if (copied(spec).any()) entries.push_back(k_major_operands::entry_point());
  return entries;
}

MainloopCost WgmmaDirectTf32Strategy::mainloop(const KernelSpec& spec) const {
  MainloopCost cost = WgmmaStrategy::mainloop(spec);
  cost.direct_lines = direct_lines(spec);
  return cost;
}

KernelWork WgmmaDirectTf32Strategy::work(const KernelSpec& spec, const Problem& problem) const {
  KernelWork work = WgmmaStrategy::work(spec, problem);
  if (copied(spec).any()) k_major_operands::add_work(copied(spec), problem, work);
  return work;
}

LaunchPlan WgmmaDirectTf32Strategy::launch_plan(const KernelSpec& spec,
                                                const Problem& problem) const {
  LaunchPlan plan = WgmmaDirectStrategy::launch_plan(spec, problem);
  if (copied(spec).any()) k_major_operands::add_launch(spec, copied(spec), problem, plan);
  return plan;
}

wgmma::MatrixPlace WgmmaDirectTf32Strategy::place_of_a(const KernelSpec& spec,
                                                       const Problem& problem) const {
  return copied(spec).a ? k_major_operands::place_of_a(problem)
                        : WgmmaStrategy::place_of_a(spec, problem);
}
wgmma::MatrixPlace WgmmaDirectTf32Strategy::place_of_b(const KernelSpec& spec,
                                                       const Problem& problem) const {
  return copied(spec).b ? k_major_operands::place_of_b(copied(spec), problem)
                        : WgmmaStrategy::place_of_b(spec, problem);
}

}  // namespace gemmtune::codegen
