#include "codegen/simt_rules.h"

#include <algorithm>
#include <array>

#include "codegen/tiling.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen::simt {
namespace {

// Addresses, loop counter and launch arguments that stay live through the main loop.
constexpr int kOverheadRegisters = 24;

// Whether the block's threads share out a tile's vectors evenly.
bool copies_evenly(const KernelSpec& spec, int tile_mn, bool contiguous_k, int aligned) {
  const TileConfig& tile = spec.tile;
  return copied_evenly(spec.strategy->threads(tile), tile_mn, tile.tile_k, contiguous_k,
                       access_width(tile, aligned));
}

// A warp tile's rows or columns of lanes.
int lanes(int warp, int thread) {
  return thread > 0 ? warp / thread : 0;
}

constexpr std::array kWarpTileRules = {
    Rule{"warp_m divisible by thread_m", "a warp tile is made of whole thread tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.thread_m, in.spec.tile.warp_m); }},
    Rule{"warp_n divisible by thread_n", "a warp tile is made of whole thread tiles",
         [](const RuleInput& in) { return divides(in.spec.tile.thread_n, in.spec.tile.warp_n); }},
    Rule{"thread tiles made of 4 x 4 subtiles", "fragments are read as 16-byte vectors",
         [](const RuleInput& in) {
           return divides(4, in.spec.tile.thread_m) && divides(4, in.spec.tile.thread_n);
         }},
    Rule{"a warp tile is 32 thread tiles", "each lane of a warp computes one",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return lanes(t.warp_m, t.thread_m) * lanes(t.warp_n, t.thread_n) == 32;
         }},
};

constexpr std::array kBlockTileRules = {
    Rule{"block tiles of at least 8 x 8", "smaller ones would not fit one grid",
         [](const RuleInput& in) {
           return in.spec.tile.tile_m >= tiling::kSmallestTile &&
                  in.spec.tile.tile_n >= tiling::kSmallestTile;
         }},
    Rule{"tile_m divisible by thread_m", "a block tile is made of whole thread tiles",
         [](const RuleInput& in) {
           return divides(std::max(1, in.spec.tile.thread_m), in.spec.tile.tile_m);
         }},
    Rule{"tile_n divisible by thread_n", "a block tile is made of whole thread tiles",
         [](const RuleInput& in) {
           return divides(std::max(1, in.spec.tile.thread_n), in.spec.tile.tile_n);
         }},
    Rule{"a block is made of whole warps", "lanes without work would be wasted",
         [](const RuleInput& in) { return divides(32, in.spec.strategy->threads(in.spec.tile)); }},
};

constexpr std::array kGuardedRules = {
    Rule{"tile_k at least 1", "the main loop steps by it",
         [](const RuleInput& in) { return in.spec.tile.tile_k >= 1; }},
};

constexpr std::array kRegisterCopyRules = {
    Rule{"threads divide the vectors of a tile of A", "each thread copies the same number",
         [](const RuleInput& in) {
           const KernelSpec& s = in.spec;
           return copies_evenly(s, s.tile.tile_m, s.traits.a_row_major, s.traits.vector_a);
         }},
    Rule{"threads divide the vectors of a tile of B", "each thread copies the same number",
         [](const RuleInput& in) {
           const KernelSpec& s = in.spec;
           return copies_evenly(s, s.tile.tile_n, !s.traits.b_row_major, s.traits.vector_b);
         }},
};

}  // namespace

int smem_bytes(const KernelSpec& spec, int buffers) {
  return buffers * buffer_floats(spec.tile, spec.traits) * size_bytes(spec.type);
}

int unpadded_smem_bytes(const KernelSpec& spec) {
  return buffer_floats(spec.tile) * size_bytes(spec.type);
}

int single_buffer_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int threads_a_block = std::max(1, spec.strategy->threads(t));
  const int in_flight = (t.tile_m + t.tile_n) * t.tile_k / threads_a_block;
  const int m = std::max(1, t.thread_m);
  const int n = std::max(1, t.thread_n);
  return m * n + std::max(m + n, in_flight) + kOverheadRegisters;
}

int double_buffer_registers(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const int threads_a_block = std::max(1, warp_tile_threads(t));
  const int in_flight = (t.tile_m + t.tile_n) * t.tile_k / threads_a_block;
  return t.thread_m * t.thread_n + t.fragments * (t.thread_m + t.thread_n) + in_flight +
         kOverheadRegisters;
}

Expected<void> supports_f32(const Problem& problem) {
  if (problem.type != DataType::f32 || problem.math != MathMode::ieee) {
    return make_error(ErrorKind::unsupported, "computes f32 with --math ieee only");
  }
  return tiling::fits_one_grid(problem);
}

std::vector<Rule> rules_with(std::span<const Rule> own) {
  return tiling::joined(
      {tiling::block_of_warps_rules(), kWarpTileRules, tiling::limit_rules(), own});
}

std::vector<Rule> block_tile_rules_with(std::span<const Rule> own) {
  return tiling::joined({kBlockTileRules, own, tiling::limit_rules()});
}

std::span<const Rule> guarded_rules() {
  return kGuardedRules;
}

std::span<const Rule> register_copy_rules() {
  return kRegisterCopyRules;
}

}  // namespace gemmtune::codegen::simt
