#include <algorithm>
#include <array>

#include "codegen/registry.h"
#include "codegen/skinny_strategy.h"

namespace gemmtune::codegen {
namespace {

constexpr int kRingReads = 8;  // registers: two rows' values at a time

constexpr std::array<std::string_view, 14> kParameters = {
    "tile_m", "tile_n", "tile_k",     "thread_m",  "thread_n", "warps",     "unroll",
    "stages", "copy",   "copy_scope", "fragments", "slices",   "reduction", "min_blocks"};

// Whether warps copy the short operand chunk by chunk; else the block does, in slabs.
bool short_in_ring(const TileConfig& tile) {
  return tile.copy_scope == kScopeWarp;
}

constexpr std::array kOwnRules = {
    Rule{"a known copy scope", "the block (0) or each warp (1) copies the short operand",
         [](const RuleInput& in) {
           const int scope = in.spec.tile.copy_scope;
           return scope == kScopeBlock || scope == kScopeWarp;
         }},
    Rule{"tile_k where the block copies, 0 where warps do", "warps copy chunks, not slabs",
         [](const RuleInput& in) {
           return short_in_ring(in.spec.tile) == (in.spec.tile.tile_k == 0);
         }},
    Rule{"slabs for at least 4 rows or columns", "with fewer, waiting for the block costs more",
         [](const RuleInput& in) {
           return short_in_ring(in.spec.tile) || skinny_gemm::Geometry(in.spec).short_side >= 4;
         }},
    Rule{"tile_k divisible by the k of a chunk", "shared memory holds whole chunks",
         [](const RuleInput& in) {
           const int chunk = skinny_gemm::Geometry(in.spec).chunk;
           return chunk > 0 && in.spec.tile.tile_k >= 0 && in.spec.tile.tile_k % chunk == 0;
         }},
    Rule{"the k of a chunk divisible by what is copied at once",
         "slices and slabs begin where the short operand can be read",
         [](const RuleInput& in) {
           const skinny_gemm::Geometry g(in.spec);
           const int tile_k = in.spec.tile.tile_k;
           if (short_in_ring(in.spec.tile) || !g.short_contiguous_k || tile_k <= 0) return true;
           return g.chunk % std::min(g.short_vector, tile_k) == 0;
         }},
    Rule{"warps copy by cp.async", "the short operand goes through the pipeline's stages",
         [](const RuleInput& in) {
           return !short_in_ring(in.spec.tile) || in.spec.tile.copy == kCopyAsync;
         }},
};

int slab_bytes(const KernelSpec& spec) {
  if (short_in_ring(spec.tile)) return 0;
  return slab_floats(spec.tile, skinny_gemm::Geometry(spec)) * size_bytes(spec.type);
}

int fragment_registers(const KernelSpec& spec) {
  const skinny_gemm::Geometry g(spec);
  if (short_in_ring(spec.tile)) return kRingReads;
  return g.long_contiguous_k ? g.short_side * g.long_vector : g.short_side;
}

}  // namespace

const Strategy& skinny() {
  static const skinny_gemm::SkinnyStrategy strategy({
      .name = "skinny",
      .summary = "few rows or columns: gemv with the short operand in shared memory",
      .template_file = "skinny.cuh",
      .template_name = "Skinny",
      .parameters = kParameters,
      .rules = {kOwnRules.begin(), kOwnRules.end()},
      .smem_bytes = slab_bytes,
      .short_in_ring = short_in_ring,
      .registers = fragment_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
