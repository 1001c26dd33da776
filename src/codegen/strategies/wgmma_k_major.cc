#include <fmt/format.h>

#include <array>

#include "codegen/aligned_copies.h"
#include "codegen/k_major_operands.h"
#include "codegen/registry.h"
#include "codegen/wgmma_strategy.h"
#include "codegen/workspace_limits.h"

namespace gemmtune::codegen {
namespace {

using k_major_operands::kMostTiles;
using k_major_operands::lines_of_a;
using k_major_operands::lines_of_b;

constexpr int kElementBytes = 4;
constexpr int kEntry = 1;

// Of all that is copied.
int64_t elements(const KernelTraits& traits, const Problem& p) {
  return (needs_k_major_a(traits) ? lines_of_a(p).elements() : 0) +
         (needs_k_major_b(traits) ? lines_of_b(p).elements() : 0);
}
int64_t tiles(const KernelTraits& traits, const Problem& p) {
  return (needs_k_major_a(traits) ? lines_of_a(p).tiles() : 0) +
         (needs_k_major_b(traits) ? lines_of_b(p).tiles() : 0);
}

constexpr std::array kOwnRules = {
    Rule{"an operand whose k is not contiguous, or that 16 bytes do not divide",
         "without one there is nothing to copy",
         [](const RuleInput& in) {
           return needs_k_major_a(in.spec.traits) || needs_k_major_b(in.spec.traits);
         }},
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
    return elements(spec.traits, problem) * kElementBytes <= kMostCopiesBytes &&
           WgmmaStrategy::worthwhile(spec, problem);
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    return k_major_operands::k_major(spec.traits);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
    entries.push_back({"_prepare", "prepare", kKMajorThreads, "kPrepareThreads"});
    return entries;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaStrategy::work(spec, problem);
    ++work.launches;
    work.reduction_bytes += 2 * elements(spec.traits, problem) * kElementBytes;
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
    const KernelTraits& t = spec.traits;
    const bool a = needs_k_major_a(t);
    const bool b = needs_k_major_b(t);
    using Quantities = std::vector<Quantity>;
    plan.quantities =
        aligned_copies::quantities_of_both(a ? k_major_operands::quantities_of('a') : Quantities{},
                                           b ? k_major_operands::quantities_of('b') : Quantities{});
    plan.launches.insert(
        plan.launches.begin(),
        launch_of(spec, kEntry,
                  {tiles(t, problem), aligned_copies::sum_of_copies(a, b, "tiles_a", "tiles_b")}));
    plan.workspace_bytes = elements(spec.traits, problem) * kElementBytes;
    plan.workspace_formula =
        fmt::format("{} * {}", kElementBytes, aligned_copies::sum_of_copies(a, b));
    return plan;
  }

 private:
  wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const override {
    if (!needs_k_major_a(spec.traits)) return WgmmaStrategy::place_of_a(spec, problem);
    return k_major_operands::place_of(lines_of_a(problem), problem.batch, 'a');
  }
  wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const override {
    if (!needs_k_major_b(spec.traits)) return WgmmaStrategy::place_of_b(spec, problem);
    wgmma::MatrixPlace place = k_major_operands::place_of(lines_of_b(problem), problem.batch, 'b');
    if (needs_k_major_a(spec.traits)) {
      place.offset_bytes = lines_of_a(problem).elements() * kElementBytes;
      place.offset_formula = fmt::format("{} * entries_a * plane_a", kElementBytes);
    }
    return place;
  }
};

}  // namespace

const Strategy& wgmma_k_major() {
  static const WgmmaKMajor strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
