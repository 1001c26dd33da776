#include <array>

#include "codegen/registry.h"
#include "codegen/skinny_strategy.h"

namespace gemmtune::codegen {
namespace {

constexpr int kMostShort = 8;
constexpr int kVector = 4;

constexpr std::array<std::string_view, 12> kParameters = {
    "tile_m", "tile_n", "thread_m",  "thread_n", "warps",     "unroll",
    "stages", "copy",   "fragments", "slices",   "reduction", "min_blocks"};

constexpr std::array kOwnRules = {
    Rule{"at most 8 rows or columns", "more of the short operand does not fit the registers",
         [](const RuleInput& in) {
           return skinny_gemm::Geometry(in.spec).short_side <= kMostShort;
         }},
};

}  // namespace

const Strategy& gemv() {
  static const skinny_gemm::SkinnyStrategy strategy({
      .name = "gemv",
      .summary = "very few rows or columns: the long operand straight to registers, k split",
      .template_file = "gemv.cuh",
      .template_name = "Gemv",
      .parameters = kParameters,
      .rules = {kOwnRules.begin(), kOwnRules.end()},
      .smem_bytes = [](const KernelSpec&) { return 0; },
      .short_in_ring = [](const TileConfig&) { return false; },
      .registers =
          [](const KernelSpec& spec) { return kVector * skinny_gemm::Geometry(spec).short_side; },
  });
  return strategy;
}

}  // namespace gemmtune::codegen
