#include "codegen/aligned_copies.h"
#include "codegen/registry.h"
#include "codegen/wgmma_strategy.h"

namespace gemmtune::codegen {
namespace {

class WgmmaMisaligned final : public WgmmaStrategy {
 public:
  WgmmaMisaligned() : WgmmaStrategy(aligned_copies::rules()) {}

  std::string_view name() const override { return "wgmma_misaligned"; }
  std::string_view summary() const override {
    return "wgmma_tma on aligned copies of the operands that 16 bytes do not divide";
  }
  std::string_view template_file() const override { return "wgmma_misaligned.cuh"; }
  std::string_view template_name() const override { return "WgmmaMisaligned"; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (auto copied = aligned_copies::supports(problem); !copied) return copied;
    return WgmmaStrategy::supports(problem, capability);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    return aligned_copies::worthwhile(spec, problem) && WgmmaStrategy::worthwhile(spec, problem);
  }

  KernelTraits main_traits(const KernelSpec& spec) const override {
    return aligned_copies::aligned(spec.traits, spec.type);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
    entries.push_back(aligned_copies::entry_point());
    return entries;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaStrategy::work(spec, problem);
    aligned_copies::add_work(spec, problem, work);
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
    aligned_copies::add_launch(spec, problem, plan);
    return plan;
  }

 private:
  static wgmma::MatrixPlace place_of(const aligned_copies::Copy& copy, int64_t batch, char letter) {
    return {Buffer::workspace,
            copy.offset_bytes,
            copy.ld,
            copy.stride,
            batch,
            std::string("ld_") + letter,
            aligned_copies::stride_formula(letter),
            "batch"};
  }

  wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const override {
    const auto copy = aligned_copies::copy_of_a(spec, problem);
    return copy ? place_of(*copy, problem.batch, 'a') : WgmmaStrategy::place_of_a(spec, problem);
  }
  wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const override {
    const auto copy = aligned_copies::copy_of_b(spec, problem);
    if (!copy) return WgmmaStrategy::place_of_b(spec, problem);
    wgmma::MatrixPlace place = place_of(*copy, problem.batch, 'b');
    place.offset_formula = aligned_copies::offset_of_b_formula(spec);
    return place;
  }
};

}  // namespace

const Strategy& wgmma_misaligned() {
  static const WgmmaMisaligned strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
