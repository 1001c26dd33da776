#pragma once

#include <vector>

#include "codegen/strategy.h"

#include "parts/shared/skinny_geometry.h"

namespace gemmtune::codegen::skinny_gemm {

// How a tile with few rows or columns is laid over a block.
struct Geometry : SkinnyShape {
  explicit Geometry(const KernelSpec& spec) : SkinnyShape(spec.tile, spec.traits) {}
};

// What distinguishes gemv from skinny.
struct Description {
  std::string_view name;
  std::string_view summary;
  std::string_view template_file;
  std::string_view template_name;
  std::span<const std::string_view> parameters;  // lives as long as the process
  std::vector<Rule> rules;                       // beside those of all skinny kernels
  int (*smem_bytes)(const KernelSpec&);          // of the main loop, beside the ring
  bool (*short_in_ring)(const TileConfig&);      // whether the short operand goes through it too
  int (*registers)(const KernelSpec&);           // fragments of the short operand
};

// A strategy on parts/skinny/skinny_gemm.cuh, told by its description.
class SkinnyStrategy final : public Strategy {
 public:
  explicit SkinnyStrategy(Description description);

  std::string_view name() const override { return description_.name; }
  std::string_view summary() const override { return description_.summary; }
  std::string_view template_file() const override { return description_.template_file; }
  std::string_view template_name() const override { return description_.template_name; }
  bool forgets_b() const override { return true; }
  std::span<const std::string_view> parameters() const override { return description_.parameters; }
  std::span<const Rule> rules() const override { return rules_; }
  Expected<void> supports(const Problem& problem, Arch arch) const override;
  int threads(const TileConfig& tile) const override { return 32 * tile.warps; }
  int smem_bytes(const KernelSpec& spec) const override;
  int estimated_registers(const KernelSpec& spec) const override;
  MainloopCost mainloop(const KernelSpec& spec) const override;
  KernelWork work(const KernelSpec& spec, const Problem& problem) const override;
  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override;
  bool deterministic(const KernelSpec& spec) const override;
  LoadBytes loads(const KernelSpec& spec) const override;
  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override;
  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override;

 private:
  Description description_;
  std::vector<Rule> rules_;
};

}  // namespace gemmtune::codegen::skinny_gemm
