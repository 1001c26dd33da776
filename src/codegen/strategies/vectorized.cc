#include <array>

#include "codegen/registry.h"
#include "codegen/simt_rules.h"
#include "codegen/simt_strategy.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 6> kParameters = {"tile_m",   "tile_n",   "tile_k",
                                                         "thread_m", "thread_n", "vector"};

constexpr std::array kVectorRules = {
    Rule{"vector is 2 or 4", "the widths of an access of more than one float",
         [](const RuleInput& in) { return in.spec.tile.vector == 2 || in.spec.tile.vector == 4; }},
    Rule{"thread tiles made of whole vectors", "fragments are read as vectors",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return t.thread_m > 0 && t.thread_n > 0 && t.thread_m % t.vector == 0 &&
                  t.thread_n % t.vector == 0;
         }},
};

}  // namespace

const Strategy& vectorized() {
  static const simt::SimtStrategy strategy({
      .name = "vectorized",
      .summary = "fp32, register_cache with vector accesses to global and shared memory, "
                 "transposed and padded tiles",
      .template_file = "vectorized.cuh",
      .template_name = "Vectorized",
      .parameters = kParameters,
      .rules =
          simt::block_tile_rules_with(simt::joined({kVectorRules, simt::register_copy_rules()})),
      .path = OperandPath::shared_vectors,
      .threads = simt::block_tile_threads,
      .smem_bytes = [](const KernelSpec& spec) { return simt::smem_bytes(spec, 1); },
      .estimated_registers = simt::single_buffer_registers,
  });
  return strategy;
}

}  // namespace gemmtune::codegen
