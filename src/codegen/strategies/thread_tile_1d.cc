#include <array>

#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/simt_strategy.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 4> kParameters = {"tile_m", "tile_n", "tile_k", "thread_m"};

}  // namespace

const Strategy& thread_tile_1d() {
  static const simt::SimtStrategy strategy({
      .name = "thread_tile_1d",
      .summary = "fp32, thread_m results per thread, in one column; operands through shared memory",
      .template_file = "thread_tile_1d.cuh",
      .template_name = "ThreadTile1d",
      .parameters = kParameters,
      .rules = simt::block_tile_rules_with(simt::guarded_rules()),
      .path = OperandPath::shared_words,
      .threads = block_tile_threads,
      .smem_bytes = simt::unpadded_smem_bytes,
      .estimated_registers = simt::single_buffer_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
