#include <array>

#include "codegen/multistage_rules.h"
#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/tiling.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 14> kParameters = {
    "tile_m", "tile_n", "tile_k", "warp_m",    "warp_n", "thread_m",   "thread_n",
    "stages", "lanes",  "order",  "fragments", "ahead",  "min_blocks", "raster"};

class Multistage final : public Strategy {
 public:
  Multistage() : rules_(simt::rules_with(multistage_loop::rules())) {}

  std::string_view name() const override { return "multistage"; }
  std::string_view summary() const override {
    return "fp32 block, warp and thread tiles; three or more shared-memory buffers filled by "
           "cp.async";
  }
  std::string_view template_file() const override { return "multistage.cuh"; }
  std::string_view template_name() const override { return "Multistage"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    return multistage_loop::supports(problem, arch);
  }

  int threads(const TileConfig& tile) const override { return warp_tile_threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override {
    return multistage_loop::smem_bytes(spec);
  }

  int estimated_registers(const KernelSpec& spec) const override {
    return multistage_loop::estimated_registers(spec);
  }

  MainloopCost mainloop(const KernelSpec& spec) const override {
    return either_loop::with_copies(Strategy::mainloop(spec), spec.tile);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& multistage() {
  static const Multistage strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
