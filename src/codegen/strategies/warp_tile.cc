#include <array>

#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/simt_strategy.h"
#include "codegen/tiling.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 9> kParameters = {
    "tile_m",   "tile_n",   "tile_k",       "warp_m",      "warp_n",
    "thread_m", "thread_n", "iterations_m", "iterations_n"};

// Whether a side of the thread tile splits into that many subtiles of whole 16-byte vectors.
bool splits(int thread, int iterations) {
  return iterations > 0 && thread % (4 * iterations) == 0;
}

constexpr std::array kIterationRules = {
    Rule{"iterations split thread tiles into subtiles of whole vectors",
         "fragments are read as 16-byte vectors",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return splits(t.thread_m, t.iterations_m) && splits(t.thread_n, t.iterations_n);
         }},
};

}  // namespace

const Strategy& warp_tile() {
  static const simt::SimtStrategy strategy({
      .name = "warp_tile",
      .summary = "fp32, block, warp and thread tiles; one shared-memory buffer, vector accesses",
      .template_file = "warp_tile.cuh",
      .template_name = "WarpTile",
      .parameters = kParameters,
      .rules = simt::rules_with(tiling::joined({simt::register_copy_rules(), kIterationRules})),
      .path = OperandPath::warp_tiles,
      .threads = warp_tile_threads,
      .smem_bytes = [](const KernelSpec& spec) { return simt::smem_bytes(spec, 1); },
      .estimated_registers = simt::single_buffer_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
