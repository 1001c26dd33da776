#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/wgmma_strategy.h"

#include "parts/shared/direct_block.h"

namespace gemmtune::codegen {

// What the strategies have in common whose producer warps load one operand themselves
// (parts/wgmma/direct_producer.cuh), so that the main kernel has no tensor map of it.
class WgmmaDirectStrategy : public WgmmaStrategy {
 public:
  // Whether threads load A, and not B.
  virtual bool loads_a(const KernelSpec& spec) const = 0;
  // Of a block's threads.
  virtual DirectRegisters registers(const KernelSpec& spec) const = 0;

  bool fetches_c() const override { return false; }
  std::span<const std::string_view> parameters() const override;

  int threads(const TileConfig& tile) const override { return direct_threads(tile); }
  int estimated_registers(const KernelSpec& spec) const override {
    return registers(spec).at_start;
  }
  int least_registers(const KernelSpec& spec) const override { return registers(spec).at_start; }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override;
  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override;

 protected:
  // `own` rules are tried before those of clusters and registers.
  explicit WgmmaDirectStrategy(std::span<const Rule> own);
};

}  // namespace gemmtune::codegen
