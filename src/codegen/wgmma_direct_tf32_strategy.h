#pragma once

#include <span>
#include <vector>

#include "codegen/k_major_operands.h"
#include "codegen/wgmma_direct_strategy.h"

namespace gemmtune::codegen {

// What the strategies of tf32 have in common whose producer warps load an operand whose k is not
// contiguous, or that 16 bytes do not divide (parts/wgmma/direct_tf32_operand.cuh). If the other
// operand is such a one, too, a kernel before the main one copies it into the workspace.
class WgmmaDirectTf32Strategy : public WgmmaDirectStrategy {
 public:
  bool loads_a(const KernelSpec& spec) const override;
  DirectRegisters registers(const KernelSpec& spec) const override;
  Expected<void> supports(const Problem& problem, Arch capability) const override;
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override;
  KernelTraits main_traits(const KernelSpec& spec) const override;
  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override;
  MainloopCost mainloop(const KernelSpec& spec) const override;
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override;
  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override;

 protected:
  WgmmaDirectTf32Strategy();

  // What TMA copies, if it needs k contiguous, too.
  static k_major_operands::Copied copied(const KernelSpec& spec);

 private:
  wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const override;
  wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const override;
};

}  // namespace gemmtune::codegen
