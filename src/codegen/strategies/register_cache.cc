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

const Strategy& register_cache() {
  static const simt::SimtStrategy strategy({
      .name = "register_cache",
      .summary = "fp32, thread_m x thread_n results per thread as outer products of fragments in "
                 "registers",
      .template_file = "register_cache.cuh",
      .template_name = "RegisterCache",
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
