#include <array>

#include "codegen/multistage_rules.h"
#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/tiling.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr int kBuffers = 2;

constexpr std::array<std::string_view, 13> kParameters = {
    "tile_m", "tile_n", "tile_k", "warp_m",    "warp_n",     "thread_m", "thread_n",
    "lanes",  "order",  "copy",   "fragments", "min_blocks", "raster"};

constexpr std::array kOwnRules = {
    Rule{"a known copy", "through registers (0) or by cp.async (1)",
         [](const RuleInput& in) {
           return in.spec.tile.copy == kCopyRegisters || in.spec.tile.copy == kCopyAsync;
         }},
    Rule{"copies by cp.async need sm_80", "older archs copy through registers",
         either_loop::arch_copies},
    Rule{"threads or warps divide the copies of a tile", "threads of a warp issue the same number",
         either_loop::copies_divide},
};

class DoubleBuffer final : public Strategy {
 public:
  DoubleBuffer() : rules_(simt::rules_with(kOwnRules)) {}

  std::string_view name() const override { return "double_buffer"; }
  std::string_view summary() const override {
    return "fp32 block, warp and thread tiles; two shared-memory buffers filled through registers, "
           "or by cp.async";
  }
  std::string_view template_file() const override { return "double_buffer.cuh"; }
  std::string_view template_name() const override { return "DoubleBuffer"; }
  bool fetches_c() const override { return true; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch) const override {
    return simt::supports_f32(problem);
  }

  int threads(const TileConfig& tile) const override { return warp_tile_threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override { return simt::smem_bytes(spec, kBuffers); }

  int estimated_registers(const KernelSpec& spec) const override {
    return either_loop::estimated_registers(spec);
  }

  MainloopCost mainloop(const KernelSpec& spec) const override {
    return either_loop::with_copies(Strategy::mainloop(spec), spec.tile);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& double_buffer() {
  static const DoubleBuffer strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
