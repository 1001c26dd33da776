#pragma once

#include "codegen/mma_rules.h"
#include "codegen/strategy.h"
#include "codegen/tiling.h"

namespace gemmtune::codegen {

// What the strategies have in common whose main kernel is one group of threads per block on
// parts/mma/mma_mainloop.cuh. Unless overridden they launch one block a tile.
class MmaStrategy : public Strategy {
 public:
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
  MainloopCost mainloop(const KernelSpec& spec) const override { return mma::mainloop(spec); }

 protected:
  // `own` are tried before those of the main loop.
  explicit MmaStrategy(std::span<const Rule> own) : rules_(tiling::joined({own, mma::rules()})) {}

 private:
  std::vector<Rule> rules_;
};

}  // namespace gemmtune::codegen
