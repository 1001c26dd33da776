#include "codegen/strategies/double_buffer.h"

#include <algorithm>
#include <array>

#include "codegen/simt_rules.h"

namespace gemmtune::codegen {
namespace {

constexpr int kBuffers = 2;
// Addresses, loop counter and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 24;

constexpr std::array<std::string_view, 12> kParameters = {
    "tile_m",   "tile_n", "tile_k", "warp_m",    "warp_n",     "thread_m",
    "thread_n", "lanes",  "order",  "fragments", "min_blocks", "raster"};

class DoubleBuffer final : public Strategy {
 public:
  DoubleBuffer() : rules_(simt::rules_with(simt::register_copy_rules())) {}

  std::string_view name() const override { return "double_buffer"; }
  std::string_view summary() const override {
    return "fp32 block, warp and thread tiles; two shared-memory buffers filled through registers";
  }
  std::string_view template_file() const override { return "double_buffer.cuh"; }
  std::string_view template_name() const override { return "DoubleBuffer"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch) const override {
    return simt::supports_f32(problem);
  }

  int threads(const TileConfig& tile) const override { return simt::threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override { return simt::smem_bytes(spec, kBuffers); }

  int estimated_registers(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    const int threads_a_block = std::max(1, threads(t));
    const int in_flight = (t.tile_m + t.tile_n) * t.tile_k / threads_a_block;
    return t.thread_m * t.thread_n + t.fragments * (t.thread_m + t.thread_n) + in_flight +
           kOverheadRegisters;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    return simt::single_launch(spec, problem);
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
