#include "codegen/mma_strategy.h"
#include "codegen/registry.h"

namespace gemmtune::codegen {
namespace {

// Operands that 16 bytes do not divide are an alignment class of this strategy: the copies are
// narrower, the pipeline is the same. mma_misaligned serves them another way, which pays where
// elements have to go one by one: it is a strategy of its own because it launches two kernels.
class MmaMultistage final : public MmaStrategy {
 public:
  MmaMultistage() : MmaStrategy({}) {}

  std::string_view name() const override { return "mma_multistage"; }
  std::string_view summary() const override {
    return "f16, bf16, tf32 and 3xtf32 on tensor cores (mma.sync); block and warp tiles, swizzled "
           "shared-memory buffers filled by cp.async, on sm_75 (f16) through registers";
  }
  std::string_view template_file() const override { return "mma_multistage.cuh"; }
  std::string_view template_name() const override { return "MmaMultistage"; }
  bool forgets_b() const override { return true; }
};

}  // namespace

const Strategy& mma_multistage() {
  static const MmaMultistage strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
