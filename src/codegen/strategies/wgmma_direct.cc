#include <array>

#include "codegen/aligned_copies.h"
#include "codegen/registry.h"
#include "codegen/wgmma_strategy.h"

#include "parts/shared/aligned_lines.h"
#include "parts/shared/direct_block.h"
#include "parts/shared/wgmma_tiles.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 10> kParameters = {
    "tile_m",    "tile_n",    "tile_k",    "stages",
    "consumers", "cluster_m", "cluster_n", "persistent_blocks",
    "raster",    "edge"};

// Places of the main kernel's arguments.
constexpr size_t kMapOfA = 1;
constexpr size_t kMapOfB = 2;

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
    Rule{"clusters share what TMA copies", "threads store to their own block",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return (is_direct_a(in.spec) ? t.cluster_n : t.cluster_m) <= 1;
         }},
    Rule{"sums fit a consumer's registers beside those of the producers", "they must not spill",
         [](const RuleInput& in) {
           return wgmma::consumer_registers(in.spec) <= DirectRegisters(in.spec.tile).consumer;
         }},
    Rule{"sums of one product fit the registers that a block starts with",
         "the assembler knows no others",
         [](const RuleInput& in) {
           return wgmma::registers_of_product(in.spec) <= DirectRegisters(in.spec.tile).at_start;
         }},
};

class WgmmaDirect final : public WgmmaStrategy {
 public:
  WgmmaDirect() : WgmmaStrategy(kRules) {}

  std::string_view name() const override { return "wgmma_direct"; }
  std::string_view summary() const override {
    return "wgmma where 16 bytes do not divide one of two 16-bit operands: producer warps load "
           "that "
           "one themselves, TMA copies the other";
  }
  std::string_view template_file() const override { return "wgmma_direct.cuh"; }
  std::string_view template_name() const override { return "WgmmaDirect"; }
  bool fetches_c() const override { return false; }

  std::span<const std::string_view> parameters() const override { return kParameters; }

  int threads(const TileConfig& tile) const override { return direct_threads(tile); }
  int estimated_registers(const KernelSpec& spec) const override {
    return DirectRegisters(spec.tile).at_start;
  }
  int least_registers(const KernelSpec& spec) const override {
    return DirectRegisters(spec.tile).at_start;
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

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
    without_direct(spec, entries.front().parameters);
    return entries;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
    without_direct(spec, plan.launches.front().arguments);
    return plan;
  }

 private:
  // Of the kernel's parameters or arguments: there is no map of what threads load.
  template <class Each>
  static void without_direct(const KernelSpec& spec, std::vector<Each>& each) {
    each.erase(each.begin() + (is_direct_a(spec) ? kMapOfA : kMapOfB));
  }
};

}  // namespace

const Strategy& wgmma_direct() {
  static const WgmmaDirect strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
