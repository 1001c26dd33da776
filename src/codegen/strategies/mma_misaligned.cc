#include "codegen/aligned_copies.h"
#include "codegen/mma_strategy.h"
#include "codegen/registry.h"

namespace gemmtune::codegen {
namespace {

class MmaMisaligned final : public MmaStrategy {
 public:
  MmaMisaligned() : MmaStrategy(aligned_copies::rules()) {}

  std::string_view name() const override { return "mma_misaligned"; }
  std::string_view summary() const override {
    return "mma_multistage on aligned copies of the operands that 16 bytes do not divide";
  }
  std::string_view template_file() const override { return "mma_misaligned.cuh"; }
  std::string_view template_name() const override { return "MmaMisaligned"; }

  // Every operand of f32 allows the 4-byte copies of mma_multistage.
  Expected<void> supports(const Problem& problem, Arch arch) const override {
    if (auto copied = aligned_copies::supports(problem); !copied) return copied;
    return MmaStrategy::supports(problem, arch);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    return aligned_copies::worthwhile(spec, problem);
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    return aligned_copies::aligned(spec.traits, spec.type);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = Strategy::entry_points(spec);
    entries.push_back(aligned_copies::entry_point());
    return entries;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = MmaStrategy::work(spec, problem);
    aligned_copies::add_work(spec, problem, work);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = MmaStrategy::launch_plan(spec, problem);
    aligned_copies::add_launch(spec, problem, plan);
    return plan;
  }
};

}  // namespace

const Strategy& mma_misaligned() {
  static const MmaMisaligned strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
