#include <array>

#include "codegen/aligned_copies.h"
#include "codegen/registry.h"
#include "codegen/wgmma_direct_strategy.h"

#include "parts/shared/aligned_lines.h"
#include "parts/shared/direct_block.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

bool is_direct_a(const KernelSpec& spec) {
  return spec.traits.vector_a < kAlignedVector;
}
bool is_direct_b(const KernelSpec& spec) {
  return spec.traits.vector_b < kAlignedVector;
}

// Of the operand that threads load.
TmaTile direct_tile(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  const KernelTraits& traits = spec.traits;
  const bool is_a = is_direct_a(spec);
  return {is_a ? t.tile_m : t.tile_n, t.tile_k, is_a ? traits.a_row_major : !traits.b_row_major,
          size_bytes(spec.type)};
}

constexpr std::array kRules = {
    Rule{"one operand that 16 bytes divide, and one that they do not",
         "TMA copies the first, and threads have registers for one more",
         [](const RuleInput& in) { return is_direct_a(in.spec) != is_direct_b(in.spec); }},
    Rule{"128 lines of 128 bytes in the tile of the operand that threads load",
         "a producer's thread has 8 chunks of it",
         [](const RuleInput& in) {
           const TmaTile tile = direct_tile(in.spec);
           return tile.line_bytes == kTmaLineBytes && tile.box_rows % 32 == 0 &&
                  tile.boxes * tile.box_rows == kDirectLines;
         }},
};

class WgmmaDirect final : public WgmmaDirectStrategy {
 public:
  WgmmaDirect() : WgmmaDirectStrategy(kRules) {}

  std::string_view name() const override { return "wgmma_direct"; }
  std::string_view summary() const override {
    return "wgmma where 16 bytes do not divide one of two 16-bit operands: producer warps load "
           "that one themselves, TMA copies the other";
  }
  std::string_view template_file() const override { return "wgmma_direct.cuh"; }
  std::string_view template_name() const override { return "WgmmaDirect"; }

  bool loads_a(const KernelSpec& spec) const override { return is_direct_a(spec); }
  DirectRegisters registers(const KernelSpec& spec) const override {
    return DirectRegisters(spec.tile);
  }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (size_bytes(problem.type) != 2)
      return make_error(ErrorKind::unsupported, "computes f16 and bf16 only");
    return WgmmaStrategy::supports(problem, capability);
  }

  // As they lie in shared memory.
  KernelTraits main_traits(const KernelSpec& spec) const override {
    return aligned_copies::aligned(spec.traits, spec.type);
  }
};

}  // namespace

const Strategy& wgmma_direct() {
  static const WgmmaDirect strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
