#include "codegen/simt_strategy.h"

#include "codegen/simt_rules.h"
#include "codegen/tiling.h"

namespace gemmtune::codegen::simt {

Expected<void> SimtStrategy::supports(const Problem& problem, Arch) const {
  return supports_f32(problem);
}

LaunchPlan SimtStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  return tiling::single_launch(spec, problem);
}

}  // namespace gemmtune::codegen::simt
