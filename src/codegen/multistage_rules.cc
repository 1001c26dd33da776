#include "codegen/multistage_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "codegen/simt_rules.h"

namespace gemmtune::codegen::multistage_loop {
namespace {

// Loop counter, buffer addresses and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 16;
constexpr int kWarp = 32;

// Elements that one copy moves: transposed operands go word by word.
int copy_width(bool contiguous_k, int vector) {
  return contiguous_k ? 1 : vector;
}

bool whole_warps_copy(const TileConfig& tile, int tile_mn, int width) {
  return tile_mn % width == 0 && tile_mn * tile.tile_k / width % kWarp == 0;
}

constexpr std::array kRules = {
    Rule{"at least 3 stages", "with fewer the copies of the next tile cannot overlap the product",
         [](const RuleInput& in) { return in.spec.tile.stages >= 3; }},
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
    Rule{"warps divide the copies of a tile", "its threads issue the same number",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const KernelTraits& traits = in.spec.traits;
           return whole_warps_copy(t, t.tile_m, copy_width(traits.a_row_major, traits.vector_a)) &&
                  whole_warps_copy(t, t.tile_n, copy_width(!traits.b_row_major, traits.vector_b));
         }},
};

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

Expected<void> supports(const Problem& problem, Arch arch) {
  if (arch.number() < kFirstArch) {
    return make_error(ErrorKind::unsupported, "needs cp.async: sm_80 or newer");
  }
  return simt::supports_f32(problem);
}

int estimated_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int threads_a_block = std::max(1, simt::threads(t));
  const int copies_a =
      t.tile_m * t.tile_k / copy_width(spec.traits.a_row_major, spec.traits.vector_a);
  const int copies_b =
      t.tile_n * t.tile_k / copy_width(!spec.traits.b_row_major, spec.traits.vector_b);
  const int addresses = 2 * (copies_a + copies_b) / threads_a_block;
  return t.thread_m * t.thread_n + (t.ahead == 0 ? 1 : 2) * (t.thread_m + t.thread_n) + addresses +
         kOverheadRegisters;
}

}  // namespace gemmtune::codegen::multistage_loop
