#include "codegen/aligned_copies.h"
#include "codegen/k_major_operands.h"
#include "codegen/registry.h"
#include "codegen/wgmma_planes_strategy.h"
#include "codegen/workspace_limits.h"

#include "parts/shared/plane_pairs.h"

namespace gemmtune::codegen {
namespace {

class WgmmaTf32Planes final : public WgmmaPlanesStrategy {
 public:
  explicit WgmmaTf32Planes(int64_t most_bytes)
      : WgmmaPlanesStrategy(DataType::f32, PlanePairs<k3xTf32>::kPlanes, kKMajorThreads,
                            most_bytes) {}

  std::string_view name() const override { return "wgmma_tf32_planes"; }
  std::string_view summary() const override {
    return "f32 on Hopper's tensor cores: operands as sums of two tf32 values, wgmma_tma on three "
           "products of those";
  }
  std::string_view template_file() const override { return "wgmma_tf32_planes.cuh"; }
  std::string_view template_name() const override { return "WgmmaTf32Planes"; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (problem.math != MathMode::tf32x3)
      return make_error(ErrorKind::unsupported, "computes f32 with --math 3xtf32 only");
    if (split_grid(problem).blocks >= k_major_operands::kMostTiles)
      return make_error(ErrorKind::unsupported, "splits operands in at most 2^31 tiles");
    return wgmma::fits(problem, capability);
  }

  // Of the planes.
  KernelTraits main_traits(const KernelSpec& spec) const override {
    return k_major_operands::k_major(spec.traits);
  }

 private:
  static PlaneLines of(const KMajorLines& lines) {
    return {lines.ld, lines.lines * lines.ld, lines.entries};
  }
  PlaneLines lines_of_a(const Problem& problem) const override {
    return of(k_major_operands::lines_of_a(problem));
  }
  PlaneLines lines_of_b(const Problem& problem) const override {
    return of(k_major_operands::lines_of_b(problem));
  }

  BlockCount split_grid(const Problem& problem) const override {
    return {k_major_operands::lines_of_a(problem).tiles() +
                k_major_operands::lines_of_b(problem).tiles(),
            "tiles_a + tiles_b"};
  }
  std::optional<BlockCount> split_grid_of_a(const Problem& problem) const override {
    return BlockCount{k_major_operands::lines_of_a(problem).tiles(), "tiles_a"};
  }
  std::vector<Quantity> quantities(const KernelSpec&) const override {
    return aligned_copies::quantities_of_both(k_major_operands::quantities_of('a'),
                                              k_major_operands::quantities_of('b'));
  }
};

}  // namespace

std::unique_ptr<const Strategy> make_wgmma_tf32_planes(int64_t most_bytes) {
  return std::make_unique<WgmmaTf32Planes>(most_bytes);
}

const Strategy& wgmma_tf32_planes() {
  static const WgmmaTf32Planes strategy(kMostPlanesBytes);
  return strategy;
}

}  // namespace gemmtune::codegen
