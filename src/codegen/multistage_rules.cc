#include "codegen/multistage_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "codegen/simt_rules.h"
#include "codegen/tiling.h"
#include "core/arch.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen::multistage_loop {
namespace {

// Loop counter, buffer addresses and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 16;

int copy_width_a(const KernelSpec& spec) {
  return async_access_width(spec.traits.a_row_major, spec.traits.vector_a);
}
int copy_width_b(const KernelSpec& spec) {
  return async_access_width(!spec.traits.b_row_major, spec.traits.vector_b);
}

bool whole_warps_copy(int tile_mn, int tile_k, bool contiguous_k, int width) {
  return copied_evenly(kWarpSize, tile_mn, tile_k, contiguous_k, width);
}

constexpr std::array kCopyRules = {
    Rule{"warps divide the copies of a tile", "its threads issue the same number",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const KernelTraits& traits = in.spec.traits;
           return whole_warps_copy(t.tile_m, t.tile_k, traits.a_row_major, copy_width_a(in.spec)) &&
                  whole_warps_copy(t.tile_n, t.tile_k, !traits.b_row_major, copy_width_b(in.spec));
         }},
};

constexpr std::array kStageRules = {
    Rule{"at least 3 stages", "with fewer the copies of the next tile cannot overlap the product",
         [](const RuleInput& in) { return in.spec.tile.stages >= 3; }},
};

// What a pipeline of two buffers obeys too.
constexpr std::array kLoopRules = {
    Rule{"ahead with two fragments", "one is read while the other is multiplied",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return t.ahead == 0 || (t.fragments == 2 && t.tile_k % 2 == 0);
         }},
    Rule{"ahead divides tile_k", "bursts of copies are evenly spread",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return t.ahead == 0 || (t.ahead < t.tile_k && t.tile_k % t.ahead == 0);
         }},
};

}  // namespace

std::span<const Rule> rules() {
  static const std::vector<Rule> all = tiling::joined({kStageRules, kLoopRules, kCopyRules});
  return all;
}

Expected<void> supports(const Problem& problem, Arch arch) {
  if (arch.number() < kFirstArch) {
    return make_error(ErrorKind::unsupported, "needs cp.async: sm_80 or newer");
  }
  return simt::supports_f32(problem);
}

int smem_bytes(const KernelSpec& spec) {
  return simt::smem_bytes(spec, std::max(2, spec.tile.stages));
}

int estimated_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int threads_a_block = std::max(1, warp_tile_threads(t));
  const int copies =
      t.tile_m * t.tile_k / copy_width_a(spec) + t.tile_n * t.tile_k / copy_width_b(spec);
  const int addresses = 2 * copies / threads_a_block;
  const int fragments = t.thread_m + t.thread_n;
  return t.thread_m * t.thread_n + (t.ahead == 0 ? 1 : 2) * fragments + addresses +
         kOverheadRegisters;
}

}  // namespace gemmtune::codegen::multistage_loop

namespace gemmtune::codegen::either_loop {

bool through_registers(const TileConfig& tile) {
  return tile.copy == kCopyRegisters;
}

bool arch_copies(const RuleInput& in) {
  return through_registers(in.spec.tile) || in.device.arch.number() >= multistage_loop::kFirstArch;
}

bool copies_divide(const RuleInput& in) {
  if (through_registers(in.spec.tile)) return tiling::all_hold(simt::register_copy_rules(), in);
  return tiling::all_hold(multistage_loop::kLoopRules, in) &&
         tiling::all_hold(multistage_loop::kCopyRules, in);
}

MainloopCost with_copies(MainloopCost cost, const TileConfig& tile) {
  cost.register_staged = through_registers(tile);
  cost.steps_ahead = cost.register_staged ? 1 : std::max(1, tile.stages - 1);
  return cost;
}

int estimated_registers(const KernelSpec& spec) {
  return through_registers(spec.tile) ? simt::double_buffer_registers(spec)
                                      : multistage_loop::estimated_registers(spec);
}

}  // namespace gemmtune::codegen::either_loop
