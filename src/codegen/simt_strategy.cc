#include "codegen/simt_strategy.h"

#include "codegen/simt_rules.h"

namespace gemmtune::codegen::simt {

Expected<void> SimtStrategy::supports(const Problem& problem, Arch) const {
  return supports_f32(problem);
}

MainloopCost SimtStrategy::mainloop(const KernelSpec& spec, const DeviceSpec& device) const {
  MainloopCost cost = Strategy::mainloop(spec, device);
  cost.path = description_.path;
  cost.steps_ahead = 0;
  if (cost.path == OperandPath::global || cost.path == OperandPath::shared_words)
    cost.load_a = cost.load_b = 1;
  return cost;
}

}  // namespace gemmtune::codegen::simt
