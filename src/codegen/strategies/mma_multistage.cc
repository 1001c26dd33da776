#include "codegen/strategies/mma_multistage.h"

#include "codegen/mma_rules.h"
#include "codegen/simt_rules.h"

namespace gemmtune::codegen {
namespace {

// Operands that 16 bytes do not divide are an alignment class of this strategy: the copies are
// narrower, the pipeline is the same. mma_misaligned serves them another way, which pays where
// elements have to go one by one: it is a strategy of its own because it launches two kernels.
class MmaMultistage final : public Strategy {
 public:
  MmaMultistage() : rules_(mma::rules()) {}

  std::string_view name() const override { return "mma_multistage"; }
  std::string_view summary() const override {
    return "f16, bf16, tf32 and 3xtf32 on tensor cores (mma.sync); block and warp tiles, swizzled "
           "shared-memory buffers filled by cp.async, on sm_75 (f16) through registers";
  }
  std::string_view template_file() const override { return "mma_multistage.cuh"; }
  std::string_view template_name() const override { return "MmaMultistage"; }
  bool takes_types() const override { return true; }
  std::span<const std::string_view> parameters() const override { return mma::parameters(); }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    return mma::supports(problem, arch);
  }

  int threads(const TileConfig& tile) const override { return mma::threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override { return mma::smem_bytes(spec); }
  int estimated_registers(const KernelSpec& spec) const override {
    return mma::estimated_registers(spec);
  }
  LoadBytes loads(const KernelSpec& spec) const override { return mma::loads(spec); }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    return simt::single_launch(spec, problem);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& mma_multistage() {
  static const MmaMultistage strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
