#include <array>

#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/simt_strategy.h"

#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 2> kParameters = {"tile_m", "tile_n"};

}  // namespace

const Strategy& naive() {
  static const simt::SimtStrategy strategy({
      .name = "naive",
      .summary = "fp32, one thread per element, operands straight from global memory",
      .template_file = "naive.cuh",
      .template_name = "Naive",
      .parameters = kParameters,
      .rules = simt::block_tile_rules_with({}),
      .path = OperandPath::global,
      .threads = block_tile_threads,
      .smem_bytes = [](const KernelSpec&) { return 0; },
      .estimated_registers = simt::single_buffer_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
