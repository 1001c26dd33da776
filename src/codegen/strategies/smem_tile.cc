#include <array>

#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/simt_strategy.h"
#include "codegen/tiling.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 3> kParameters = {"tile_m", "tile_n", "tile_k"};

constexpr std::array kSquareRules = {
    Rule{"tile_m equals tile_n", "the textbook kernel's tile of C is square",
         [](const RuleInput& in) { return in.spec.tile.tile_m == in.spec.tile.tile_n; }},
};

}  // namespace

const Strategy& smem_tile() {
  static const simt::SimtStrategy strategy({
      .name = "smem_tile",
      .summary =
          "fp32, one thread per element of a square block tile, operands through shared memory",
      .template_file = "smem_tile.cuh",
      .template_name = "SmemTile",
      .parameters = kParameters,
      .rules = simt::block_tile_rules_with(tiling::joined({simt::guarded_rules(), kSquareRules})),
      .path = OperandPath::shared_words,
      .threads = block_tile_threads,
      .smem_bytes = simt::unpadded_smem_bytes,
      .estimated_registers = simt::single_buffer_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
