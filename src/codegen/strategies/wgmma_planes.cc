#include <fmt/format.h>

#include "codegen/aligned_copies.h"
#include "codegen/registry.h"
#include "codegen/wgmma_planes_strategy.h"
#include "codegen/workspace_limits.h"

#include "parts/shared/bf16_planes.h"

namespace gemmtune::codegen {
namespace {

constexpr int64_t kMostChunks = int64_t{1} << 31;  // of kSplitElements

class WgmmaPlanes final : public WgmmaPlanesStrategy {
 public:
  explicit WgmmaPlanes(int64_t most_bytes)
      : WgmmaPlanesStrategy(DataType::bf16, kBf16Planes, kSplitThreads, most_bytes) {}

  std::string_view name() const override { return "wgmma_planes"; }
  std::string_view summary() const override {
    return "f32 on Hopper's tensor cores: operands as sums of three bf16 values, wgmma_tma on six "
           "or nine products of those";
  }
  std::string_view template_file() const override { return "wgmma_planes.cuh"; }
  std::string_view template_name() const override { return "WgmmaPlanes"; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (problem.math != MathMode::bf16x6 && problem.math != MathMode::bf16x9) {
      return make_error(ErrorKind::unsupported, "computes f32 with --math bf16x6 or bf16x9 only");
    }
    if (chunks(problem) > kMostChunks)
      return make_error(ErrorKind::unsupported, "splits at most 2^34 elements of operands");
    return wgmma::fits(problem, capability);
  }

  // Of the planes.
  KernelTraits main_traits(const KernelSpec& spec) const override {
    return aligned_copies::aligned(spec.traits, DataType::bf16);
  }

 private:
  static PlaneLines of(const AlignedLines& lines) {
    return {lines.ld, lines.lines * lines.ld, lines.entries};
  }
  PlaneLines lines_of_a(const Problem& p) const override {
    return of({p.layout.a == Order::row_major, p.shape.m, p.shape.k, p.stride_a, p.batch});
  }
  PlaneLines lines_of_b(const Problem& p) const override {
    return of({p.layout.b != Order::row_major, p.shape.n, p.shape.k, p.stride_b, p.batch});
  }

  int64_t chunks(const Problem& problem) const { return elements(problem) / kSplitElements; }

  BlockCount split_grid(const Problem& problem) const override {
    return {(chunks(problem) + kSplitThreads - 1) / kSplitThreads,
            fmt::format("ceil({} / {})", aligned_copies::sum_of_copies(true, true),
                        kSplitThreads * kSplitElements)};
  }
  // A block may split the end of A and the begin of B.
  std::optional<BlockCount> split_grid_of_a(const Problem&) const override { return std::nullopt; }
  std::vector<Quantity> quantities(const KernelSpec& spec) const override {
    return aligned_copies::quantities_of_both(
        aligned_copies::quantities_of('a', spec.traits.a_row_major, kLineUnit),
        aligned_copies::quantities_of('b', !spec.traits.b_row_major, kLineUnit));
  }
  std::string limit() const override {
    return fmt::format("entries_a * plane_a + entries_b * plane_b is at most {}.",
                       kMostChunks * kSplitElements);
  }
};

}  // namespace

std::unique_ptr<const Strategy> make_wgmma_planes(int64_t most_bytes) {
  return std::make_unique<WgmmaPlanes>(most_bytes);
}

const Strategy& wgmma_planes() {
  static const WgmmaPlanes strategy(kMostPlanesBytes);
  return strategy;
}

}  // namespace gemmtune::codegen
