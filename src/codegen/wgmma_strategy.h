#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "codegen/strategy.h"
#include "codegen/wgmma_rules.h"

namespace gemmtune::codegen {

// What the strategies have in common whose main kernel is wgmma_tma.cuh: on the problem's own
// operands, unless overridden, or on what a kernel before it left in the workspace.
class WgmmaStrategy : public Strategy {
 public:
  bool takes_types() const override { return true; }
  bool fetches_c() const override { return true; }
  int64_t slow_rows(const TileConfig& tile, const Problem& problem, bool reads_c) const override {
    return wgmma::slow_rows(tile, problem, !reads_c);
  }
  TileConfig for_other_rows(const TileConfig& tile, const Problem& problem) const override;

  std::span<const std::string_view> parameters() const override;
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    return wgmma::supports(problem, capability);
  }
  Arch code_arch(Arch capability) const override { return specific_to(capability); }

  int threads(const TileConfig& tile) const override;
  int smem_bytes(const KernelSpec& spec) const override;
  int estimated_registers(const KernelSpec& spec) const override;
  int least_registers(const KernelSpec& spec) const override;
  LoadBytes loads(const KernelSpec& spec) const override { return wgmma::loads(spec); }
  MainloopCost mainloop(const KernelSpec& spec) const override { return wgmma::mainloop(spec); }

  bool overlaps_previous() const override { return true; }
  bool is_geometry(std::string_view parameter) const override;
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override;
  TileConfig without_idle_warps(const TileConfig& tile) const override;
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override;

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override;
  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override;
  std::vector<SourceHeader> written_headers(const KernelSpec& spec) const override;

 protected:
  // `own` rules are tried before those of tiles, clusters and the hardware.
  explicit WgmmaStrategy(std::span<const Rule> own);

  // Blocks of the main kernel.
  virtual BlockCount grid(const TileConfig& tile, const Problem& problem) const;

  // What the main kernel's tensor maps are of.
  virtual wgmma::MatrixPlace place_of_a(const KernelSpec& spec, const Problem& problem) const;
  virtual wgmma::MatrixPlace place_of_b(const KernelSpec& spec, const Problem& problem) const;

 private:
  std::vector<Rule> rules_;
};

}  // namespace gemmtune::codegen
