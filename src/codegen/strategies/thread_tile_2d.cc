#include <array>

#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/simt_strategy.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 5> kParameters = {"tile_m", "tile_n", "tile_k", "thread_m",
                                                         "thread_n"};

}  // namespace

const Strategy& thread_tile_2d() {
  static const simt::SimtStrategy strategy({
      .name = "thread_tile_2d",
      .summary = "fp32, thread_m x thread_n results per thread, operands named in shared memory by "
                 "each product",
      .template_file = "thread_tile_2d.cuh",
      .template_name = "ThreadTile2d",
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
