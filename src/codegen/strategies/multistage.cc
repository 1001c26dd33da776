#include "codegen/strategies/multistage.h"

#include <algorithm>
#include <array>

#include "codegen/simt_rules.h"

namespace gemmtune::codegen {
namespace {

// Loop counter, buffer addresses and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 24;
constexpr int kFirstArch = 80;  // cp.async

constexpr std::array<std::string_view, 13> kParameters = {
    "tile_m", "tile_n", "tile_k", "warp_m",    "warp_n",     "thread_m", "thread_n",
    "stages", "lanes",  "order",  "fragments", "min_blocks", "raster"};

// Elements that one copy moves: transposed operands go word by word.
int copy_width(bool contiguous_k, int vector) {
  return contiguous_k ? 1 : vector;
}

bool copies_evenly(const TileConfig& tile, int tile_mn, int width) {
  const int threads = simt::threads(tile);
  return tile_mn % width == 0 && threads > 0 && tile_mn * tile.tile_k / width % threads == 0;
}

constexpr std::array kOwnRules = {
    Rule{"at least 3 stages", "with fewer the copies of the next tile cannot overlap the product",
         [](const RuleInput& in) { return in.spec.tile.stages >= 3; }},
    Rule{"threads divide the copies of a tile", "each thread issues the same number",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const KernelTraits& traits = in.spec.traits;
           return copies_evenly(t, t.tile_m, copy_width(traits.a_row_major, traits.vector_a)) &&
                  copies_evenly(t, t.tile_n, copy_width(!traits.b_row_major, traits.vector_b));
         }},
};

class Multistage final : public Strategy {
 public:
  Multistage() : rules_(simt::rules_with(kOwnRules)) {}

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
    if (arch.number() < kFirstArch) {
      return make_error(ErrorKind::unsupported, "multistage needs cp.async: sm_80 or newer");
    }
    return simt::supports_f32(problem);
  }

  int threads(const TileConfig& tile) const override { return simt::threads(tile); }
  int smem_bytes(const KernelSpec& spec) const override {
    return simt::smem_bytes(spec, spec.tile.stages);
  }

  int estimated_registers(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    const int threads_a_block = std::max(1, threads(t));
    const int copies_a =
        t.tile_m * t.tile_k / copy_width(spec.traits.a_row_major, spec.traits.vector_a);
    const int copies_b =
        t.tile_n * t.tile_k / copy_width(!spec.traits.b_row_major, spec.traits.vector_b);
    const int addresses = 2 * (copies_a + copies_b) / threads_a_block;
    return t.thread_m * t.thread_n + t.fragments * (t.thread_m + t.thread_n) + addresses +
           kOverheadRegisters;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    return simt::single_launch(spec, problem);
  }

 private:
  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& multistage() {
  static const Multistage kStrategy;
  return kStrategy;
}

}  // namespace gemmtune::codegen
