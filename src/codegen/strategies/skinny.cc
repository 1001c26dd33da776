#include <array>

#include "codegen/registry.h"
#include "codegen/skinny_strategy.h"

namespace gemmtune::codegen {
namespace {

constexpr int kPadding = 4;    // floats a row of a slab [few][tile_k]
constexpr int kRingReads = 8;  // registers: two rows' values at a time

constexpr std::array<std::string_view, 11> kParameters = {
    "tile_m", "tile_n", "tile_k", "thread_m",  "thread_n",  "warps",
    "unroll", "stages", "slices", "reduction", "min_blocks"};

// Whether warps copy the few operand chunk by chunk; else the block does, in slabs.
bool few_in_ring(const TileConfig& tile) {
  return tile.tile_k == 0;
}

constexpr std::array kOwnRules = {
    Rule{"slabs for at least 4 rows or columns", "with fewer, waiting for the block costs more",
         [](const RuleInput& in) {
           return few_in_ring(in.spec.tile) || skinny_gemm::Geometry(in.spec).few >= 4;
         }},
    Rule{"tile_k divisible by the k of a chunk", "shared memory holds whole chunks",
         [](const RuleInput& in) {
           const int chunk = skinny_gemm::Geometry(in.spec).chunk;
           return chunk > 0 && in.spec.tile.tile_k >= 0 && in.spec.tile.tile_k % chunk == 0;
         }},
    Rule{"tile_k of 0 needs 3 and more stages", "the few operand goes through the ring",
         [](const RuleInput& in) { return !few_in_ring(in.spec.tile) || in.spec.tile.stages > 2; }},
};

int slab_bytes(const KernelSpec& spec) {
  if (few_in_ring(spec.tile)) return 0;
  const skinny_gemm::Geometry g(spec);
  const int row = spec.tile.tile_k + (g.long_contiguous_k ? kPadding : 0);
  return g.few * row * size_bytes(spec.type);
}

int fragment_registers(const KernelSpec& spec) {
  const skinny_gemm::Geometry g(spec);
  if (few_in_ring(spec.tile)) return kRingReads;
  return g.long_contiguous_k ? g.few * g.long_vector : g.few;
}

}  // namespace

const Strategy& skinny() {
  static const skinny_gemm::SkinnyStrategy strategy({
      .name = "skinny",
      .summary = "few rows or columns: gemv with the few operand in shared memory",
      .template_file = "skinny.cuh",
      .template_name = "Skinny",
      .parameters = kParameters,
      .rules = {kOwnRules.begin(), kOwnRules.end()},
      .smem_bytes = slab_bytes,
      .few_in_ring = few_in_ring,
      .registers = fragment_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
