#pragma once

#include "codegen/strategy.h"

namespace gemmtune::codegen {

// What the tiled strategies that share out the k of a tile of C have in common: over
// TileConfig::slices blocks (slices.h), and over groups of a block's warps where there are any.
class SlicedStrategy : public Strategy {
 public:
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override;
  bool deterministic(const KernelSpec& spec) const override;
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override;
  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override;
  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override;
};

}  // namespace gemmtune::codegen
