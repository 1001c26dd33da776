#include "codegen/multistage_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "codegen/simt_rules.h"
#include "core/arch.h"

namespace gemmtune::codegen::multistage_loop {
namespace {

// Loop counter, buffer addresses and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 16;

constexpr int kStepsKept = 4;     // values of k a read brings of an operand that is kept along k
constexpr int kPadding = 4;       // floats a row of what is contiguous along k
constexpr int kFragmentPair = 8;  // values of k of the two fragments of such an operand

// How an operand travels (MultistageOperand in parts/multistage_mainloop.cuh).
struct Operand {
  int tile_mn;
  int thread_mn;
  bool contiguous_k;
  int vector;  // elements that an access may move

  bool kept(const TileConfig& tile) const { return contiguous_k && tile.unroll > 1; }
  // Elements that one copy moves: what is transposed goes word by word.
  int copy_width(const TileConfig& tile) const { return contiguous_k && !kept(tile) ? 1 : vector; }
  // Of a buffer.
  int floats(const TileConfig& tile) const {
    const int padding = contiguous_k ? kPadding : 0;
    return kept(tile) ? tile_mn * (tile.tile_k + padding) : tile.tile_k * (tile_mn + padding);
  }
  int fragment_registers(const TileConfig& tile) const {
    return thread_mn * (kept(tile) ? kStepsKept : 1);
  }
};

Operand operand_a(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  return {t.tile_m, t.thread_m, spec.traits.a_row_major, spec.traits.vector_a};
}
Operand operand_b(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  return {t.tile_n, t.thread_n, !spec.traits.b_row_major, spec.traits.vector_b};
}

bool whole_warps_copy(const TileConfig& tile, const Operand& operand) {
  const int width = operand.copy_width(tile);
  return operand.tile_mn % width == 0 && operand.tile_mn * tile.tile_k / width % kWarpSize == 0;
}

constexpr std::array kCopyRules = {
    Rule{"warps divide the copies of a tile", "its threads issue the same number",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return whole_warps_copy(t, operand_a(in.spec)) &&
                  whole_warps_copy(t, operand_b(in.spec));
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
    Rule{"unroll 0 or 4", "operands are transposed, or kept along k and read 4 values at once",
         [](const RuleInput& in) {
           return in.spec.tile.unroll == 0 || in.spec.tile.unroll == kStepsKept;
         }},
    Rule{"unroll 4 with an operand that is contiguous along k", "no other can be kept along k",
         [](const RuleInput& in) {
           return in.spec.tile.unroll == 0 || in.spec.traits.a_row_major ||
                  !in.spec.traits.b_row_major;
         }},
    Rule{"unroll 4 with two fragments and tile_k a multiple of 8",
         "while 4 values of k are multiplied the next 4 are read",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return t.unroll == 0 || (t.fragments == 2 && t.tile_k % kFragmentPair == 0);
         }},
};

}  // namespace

std::span<const Rule> rules() {
  static const std::vector<Rule> all = simt::joined({kStageRules, kLoopRules, kCopyRules});
  return all;
}

Expected<void> supports(const Problem& problem, Arch arch) {
  if (arch.number() < kFirstArch) {
    return make_error(ErrorKind::unsupported, "needs cp.async: sm_80 or newer");
  }
  return simt::supports_f32(problem);
}

int smem_bytes(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  return std::max(2, t.stages) * (operand_a(spec).floats(t) + operand_b(spec).floats(t)) *
         size_bytes(spec.type);
}

int estimated_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const Operand a = operand_a(spec);
  const Operand b = operand_b(spec);
  const int threads_a_block = std::max(1, simt::threads(t));
  const int copies = t.tile_m * t.tile_k / a.copy_width(t) + t.tile_n * t.tile_k / b.copy_width(t);
  const int addresses = 2 * copies / threads_a_block;
  const int fragments = a.fragment_registers(t) + b.fragment_registers(t);
  return t.thread_m * t.thread_n + (t.ahead == 0 ? 1 : 2) * fragments + addresses +
         kOverheadRegisters;
}

}  // namespace gemmtune::codegen::multistage_loop

namespace gemmtune::codegen::either_loop {

bool through_registers(const TileConfig& tile) {
  return tile.copy == kCopyRegisters && tile.stages <= 2;
}

bool arch_copies(const RuleInput& in) {
  return through_registers(in.spec.tile) || in.device.arch.number() >= multistage_loop::kFirstArch;
}

bool copies_divide(const RuleInput& in) {
  if (through_registers(in.spec.tile)) return simt::all_hold(simt::register_copy_rules(), in);
  return simt::all_hold(multistage_loop::kLoopRules, in) &&
         simt::all_hold(multistage_loop::kCopyRules, in);
}

MainloopCost with_copies(MainloopCost cost, const TileConfig& tile) {
  cost.register_staged = through_registers(tile);
  cost.steps_ahead = cost.register_staged ? 1 : std::max(2, tile.stages) - 1;
  return cost;
}

int estimated_registers(const KernelSpec& spec) {
  return through_registers(spec.tile) ? simt::double_buffer_registers(spec)
                                      : multistage_loop::estimated_registers(spec);
}

}  // namespace gemmtune::codegen::either_loop
