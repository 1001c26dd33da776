#include <array>

#include "codegen/k_major_operands.h"
#include "codegen/registry.h"
#include "codegen/wgmma_strategy.h"
#include "codegen/workspace_limits.h"

namespace gemmtune::codegen {
namespace {

using k_major_operands::Copied;
using k_major_operands::kMostTiles;
using k_major_operands::lines_of_a;
using k_major_operands::lines_of_b;

Copied copied(const KernelSpec& spec) {
  return {needs_k_major_a(spec.traits), needs_k_major_b(spec.traits)};
}

constexpr std::array kOwnRules = {
    Rule{"an operand whose k is not contiguous, or that 16 bytes do not divide",
         "without one there is nothing to copy",
         [](const RuleInput& in) { return copied(in.spec).any(); }},
};

class WgmmaKMajor final : public WgmmaStrategy {
 public:
  WgmmaKMajor() : WgmmaStrategy(kOwnRules) {}

  std::string_view name() const override { return "wgmma_k_major"; }
  std::string_view summary() const override {
    return "tf32 in any layout: wgmma_tma on copies with k contiguous";
  }
  std::string_view template_file() const override { return "wgmma_k_major.cuh"; }
  std::string_view template_name() const override { return "WgmmaKMajor"; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (problem.type != DataType::f32 || problem.math != MathMode::tf32)
      return make_error(ErrorKind::unsupported, "computes f32 with --math tf32 only");
    if (lines_of_a(problem).tiles() + lines_of_b(problem).tiles() >= kMostTiles)
      return make_error(ErrorKind::unsupported, "copies operands in at most 2^31 tiles");
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
    std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
    entries.push_back(k_major_operands::entry_point());
    return entries;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaStrategy::work(spec, problem);
    k_major_operands::add_work(copied(spec), problem, work);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
    k_major_operands::add_launch(spec, copied(spec), problem, plan);
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

const Strategy& wgmma_k_major() {
  static const WgmmaKMajor strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
