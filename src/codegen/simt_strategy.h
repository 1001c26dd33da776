#pragma once

#include <vector>

#include "codegen/strategy.h"

namespace gemmtune::codegen::simt {

// What distinguishes one strategy from another where all of them are plain fp32, run on every arch,
// launch one kernel over tile_grid(), and copy and multiply in turns.
struct Description {
  std::string_view name;
  std::string_view summary;
  std::string_view template_file;
  std::string_view template_name;
  std::span<const std::string_view> parameters;  // lives as long as the process
  std::vector<Rule> rules;
  OperandPath path;
  int (*threads)(const TileConfig&);
  int (*smem_bytes)(const KernelSpec&);
  int (*estimated_registers)(const KernelSpec&);
};

// A strategy told by its description.
class SimtStrategy final : public Strategy {
 public:
  explicit SimtStrategy(Description description) : description_(std::move(description)) {}

  std::string_view name() const override { return description_.name; }
  std::string_view summary() const override { return description_.summary; }
  std::string_view template_file() const override { return description_.template_file; }
  std::string_view template_name() const override { return description_.template_name; }
  std::span<const std::string_view> parameters() const override { return description_.parameters; }
  std::span<const Rule> rules() const override { return description_.rules; }
  Expected<void> supports(const Problem& problem, Arch arch) const override;
  int threads(const TileConfig& tile) const override { return description_.threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override { return description_.smem_bytes(spec); }
  int estimated_registers(const KernelSpec& spec) const override {
    return description_.estimated_registers(spec);
  }
  MainloopCost mainloop(const KernelSpec& spec, const DeviceSpec& device) const override;

 private:
  Description description_;
};

}  // namespace gemmtune::codegen::simt
