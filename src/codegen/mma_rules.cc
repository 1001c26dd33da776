#include "codegen/mma_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "codegen/tiling.h"

#include "parts/shared/mma_tiles.h"
#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen::mma {
namespace {

// Addresses of copies and fragments, counters and launch arguments that stay live through the main
// loop, beside one register for each fragment offset.
constexpr int kOverheadRegisters = 30;
// Of a 16-bit operand that is copied through registers, element by element.
constexpr int kLoadRegisters = 16;

constexpr std::array<std::string_view, 12> kParameters = {
    "tile_m", "tile_n", "tile_k",    "warp_m",    "warp_n",     "stages",
    "copy",   "order",  "fragments", "promotion", "min_blocks", "raster"};

constexpr int kSecondGeneration = 80;  // cp.async, m16n8k16, bf16, tf32

constexpr int kRegisterBytes = 4;
constexpr int kSmallestCopyBytes = 4;  // of cp.async

// The oldest arch whose tensor cores multiply elements of `type`: f32 as tf32.
int first_arch(DataType type) {
  switch (type) {
    case DataType::f16:
      return 0;  // of those that code is generated for
    case DataType::f32:
    case DataType::bf16:
    case DataType::e4m3:
    case DataType::e5m2:
    case DataType::i8:
    case DataType::i32:
      break;
  }
  return kSecondGeneration;
}

// Whether products of f32 operands in this mode are of tf32 values.
bool is_of_tf32(MathMode math) {
  switch (math) {
    case MathMode::tf32:
    case MathMode::tf32x3:
      return true;
    case MathMode::ieee:
    case MathMode::f16:
    case MathMode::bf16x6:
    case MathMode::bf16x9:
    case MathMode::fast_accum:
      break;
  }
  return false;
}

int shared_bytes(const KernelSpec& spec) {
  return size_bytes(shared_type(spec));  // of an element
}

int k_of_step(const KernelSpec& spec) {
  return mmas_of_step(spec.tile) * kMmaStepBytes / shared_bytes(spec);
}

// Whether a block's threads share out an operand's tile evenly.
bool copies_evenly(int threads, int lines, int line, int vector, DataType type) {
  const int access = copied_elements_at_once(vector, size_bytes(type));
  const int chunk = kChunkBytes / size_bytes(type);
  if (threads <= 0 || line <= 0 || line % chunk != 0) return false;
  return LineCopies(threads, lines, line / access)
      .even(threads, access, chunk, swizzle_period(line / chunk));
}

// Registers for the offsets of a warp's fragments.
int offset_registers(const KernelSpec& spec, bool contiguous_k, int warp) {
  const int line_bytes = spec.tile.tile_k * shared_bytes(spec);
  return fragment_offsets(contiguous_k, line_bytes, spec.tile.tile_k / k_of_step(spec),
                          warp / kFragmentSide);
}

// Of 3xtf32: fragments of steps to come that are split ahead. With two buffers of fragments the
// compiler does so for a whole tile of k. Of 141 tiles that were compiled, 61 of the 80 that spill
// are illegal by this, and 3 of those that do not.
int split_ahead_registers(const KernelSpec& spec) {
  if (spec.math != MathMode::tf32x3) return 0;
  const int side = spec.tile.warp_m + spec.tile.warp_n;
  const bool whole_tile = spec.tile.fragments == 2 && spec.tile.tile_k > 2 * k_of_step(spec);
  return whole_tile ? side : side / 2;
}

// Whether lines of 32-bit elements along m or n are as SwizzledRows wants them.
bool whole_bank_lines(const KernelSpec& spec, bool contiguous_k, int tile) {
  const int bytes = size_bytes(spec.type);
  return bytes < kRegisterBytes || contiguous_k || divides(kBankLineBytes, tile * bytes);
}

constexpr std::array kSubtileRules = {
    Rule{"warp tiles made of 16 x 16 subtiles", "16 rows or columns are read at a time",
         [](const RuleInput& in) {
           return divides(kFragmentSide, in.spec.tile.warp_m) &&
                  divides(kFragmentSide, in.spec.tile.warp_n);
         }},
    Rule{"tile_k made of k steps",
         "an mma multiplies 16 values of k, or 8 of tf32; a step is `promotion` of them",
         [](const RuleInput& in) { return divides(k_of_step(in.spec), in.spec.tile.tile_k); }},
};

constexpr std::array kPipelineRules = {
    Rule{"f32 along m or n: tiles of a multiple of 32", "their lines are swizzled as wholes",
         [](const RuleInput& in) {
           const KernelTraits& traits = in.spec.traits;
           return whole_bank_lines(in.spec, traits.a_row_major, in.spec.tile.tile_m) &&
                  whole_bank_lines(in.spec, !traits.b_row_major, in.spec.tile.tile_n);
         }},
    Rule{"several mmas per step in 3xtf32 only",
         "they save its additions; else there is nothing to save",
         [](const RuleInput& in) {
           return in.spec.math == MathMode::tf32x3 || mmas_of_step(in.spec.tile) == 1;
         }},
    Rule{"1 or 2 fragment buffers", "there is no third to be filled",
         [](const RuleInput& in) {
           return in.spec.tile.fragments == 1 || in.spec.tile.fragments == 2;
         }},
    Rule{"two fragment buffers need an even number of k steps", "they take turns over a tile",
         [](const RuleInput& in) {
           return in.spec.tile.fragments < 2 || in.spec.tile.tile_k % (2 * k_of_step(in.spec)) == 0;
         }},
    Rule{"at least 2 stages", "with fewer copies and product cannot overlap",
         [](const RuleInput& in) { return in.spec.tile.stages >= 2; }},
    Rule{"cp.async from sm_80 on, registers before it",
         "older archs have none; with it no register holds a tile on its way",
         [](const RuleInput& in) {
           const bool async = in.device.arch.number() >= kSecondGeneration;
           return in.spec.tile.copy == (async ? kCopyAsync : kCopyRegisters);
         }},
    Rule{"2 stages through registers", "one tile is on its way in them",
         [](const RuleInput& in) {
           return in.spec.tile.stages == 2 || in.spec.tile.copy != kCopyRegisters;
         }},
    Rule{"registers fit a thread and its share of a tile on its way",
         "accumulators and fragments must not spill",
         [](const RuleInput& in) {
           return in.spec.tile.copy != kCopyRegisters ||
                  estimated_registers(in.spec) + staging_registers(in.spec) <=
                      in.device.max_registers_per_thread;
         }},
};

constexpr std::array kCopyRules = {
    Rule{"threads divide the copies of a tile of A", "each thread issues the same number",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const KernelTraits traits = in.spec.strategy->main_traits(in.spec);
           const DataType type = shared_type(in.spec);
           return traits.a_row_major
                      ? copies_evenly(threads(t), t.tile_m, t.tile_k, traits.vector_a, type)
                      : copies_evenly(threads(t), t.tile_k, t.tile_m, traits.vector_a, type);
         }},
    Rule{"threads divide the copies of a tile of B", "each thread issues the same number",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           const KernelTraits traits = in.spec.strategy->main_traits(in.spec);
           const DataType type = shared_type(in.spec);
           return traits.b_row_major
                      ? copies_evenly(threads(t), t.tile_k, t.tile_n, traits.vector_b, type)
                      : copies_evenly(threads(t), t.tile_n, t.tile_k, traits.vector_b, type);
         }},
};

}  // namespace

std::span<const std::string_view> parameters() {
  return kParameters;
}

int threads(const TileConfig& tile) {
  return warp_tile_threads(tile);
}

int pipeline_bytes(const KernelSpec& spec) {
  return spec.tile.stages * mma_buffer_bytes(spec.tile, size_bytes(spec.type));
}

int smem_bytes(const KernelSpec& spec) {
  return std::max(pipeline_bytes(spec), slabs_bytes(spec.tile, DataType::f32));
}

int slabs_bytes(const TileConfig& tile, DataType sums) {
  return warp_tiles(tile) * slab_sums(tile.warp_n) * size_bytes(sums);
}

int estimated_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int sums = t.warp_m * t.warp_n / kWarpSize * size_bytes(spec.accumulator) / kRegisterBytes;
  const int split = spec.math == MathMode::tf32x3 ? std::min(t.warp_m, t.warp_n) : 0;
  const int fragments = mmas_of_step(spec.tile) * (t.fragments * (t.warp_m + t.warp_n) + split) / 4;
  const int offsets = offset_registers(spec, spec.traits.a_row_major, t.warp_m) +
                      offset_registers(spec, !spec.traits.b_row_major, t.warp_n);
  const KernelTraits traits = spec.strategy->main_traits(spec);
  const int through_registers = (traits.vector_a == 1 ? 1 : 0) + (traits.vector_b == 1 ? 1 : 0);
  const int on_their_way =
      size_bytes(spec.type) < kSmallestCopyBytes ? kLoadRegisters * through_registers : 0;
  return sums + fragments + offsets + on_their_way + split_ahead_registers(spec) +
         kOverheadRegisters;
}

DataType shared_type(const KernelSpec& spec) {
  switch (spec.math) {
    case MathMode::f16:
      return DataType::f16;
    case MathMode::ieee:
    case MathMode::tf32:
    case MathMode::tf32x3:
    case MathMode::bf16x6:
    case MathMode::bf16x9:
    case MathMode::fast_accum:
      break;
  }
  return spec.type;
}

Expected<void> supports(const Problem& problem, Arch arch) {
  switch (problem.type) {
    case DataType::f32:
      if (is_of_tf32(problem.math)) break;
      return make_error(ErrorKind::unsupported, "computes f32 with --math tf32 or 3xtf32 only");
    case DataType::f16:
    case DataType::bf16:
    case DataType::e4m3:
    case DataType::e5m2:
    case DataType::i8:
    case DataType::i32:
      break;
  }
  return multiplies(problem.type, problem, arch);
}

Expected<void> multiplies(DataType type, const Problem& problem, Arch arch) {
  if (is_8_bit(type)) return make_error(ErrorKind::unsupported, "computes no 8-bit operands");
  if (arch.number() < first_arch(type)) {
    return make_error(ErrorKind::unsupported, "needs sm_80 for all but f16");
  }
  return tiling::fits_one_grid(problem);
}

int staging_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const KernelTraits traits = spec.strategy->main_traits(spec);
  const auto of_operand = [&](int tile_mn, int vector) {
    const int in_register = vector > 1 ? kRegisterBytes / size_bytes(spec.type) : 1;
    return tile_mn * t.tile_k / std::max(1, threads(t)) / in_register;
  };
  return of_operand(t.tile_m, traits.vector_a) + of_operand(t.tile_n, traits.vector_b);
}

LoadBytes loads(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  return {tiling::loaded_bytes(size_bytes(spec.type), t.tile_m, t.tile_n),
          tiling::loaded_bytes(shared_bytes(spec), t.warp_m, t.warp_n)};
}

MainloopCost mainloop(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const KernelTraits traits = spec.strategy->main_traits(spec);
  MainloopCost cost;
  cost.arithmetic = Arithmetic::tensor_core;
  cost.path = OperandPath::warp_tiles;
  cost.step_depth = t.tile_k;
  cost.register_staged = t.copy == kCopyRegisters;
  cost.steps_ahead = cost.register_staged ? 1 : t.stages - 1;
  cost.load_a = traits.vector_a;
  cost.load_b = traits.vector_b;
  cost.groups = std::max(1, t.groups);
  cost.result_rows = t.warp_m;
  cost.result_columns = t.warp_n;
  cost.promotion_steps = spec.math == MathMode::tf32x3 ? std::max(1, t.promotion) : 0;
  return cost;
}

std::vector<Rule> rules() {
  return tiling::joined({tiling::block_of_warps_rules(), kSubtileRules, kPipelineRules, kCopyRules,
                         tiling::limit_rules()});
}

std::vector<Rule> rules_without_pipeline() {
  return tiling::joined(
      {tiling::block_of_warps_rules(), kSubtileRules, kCopyRules, tiling::limit_rules()});
}

}  // namespace gemmtune::codegen::mma
