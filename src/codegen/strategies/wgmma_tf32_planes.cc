#include <fmt/format.h>

#include "codegen/registry.h"
#include "codegen/wgmma_planes_strategy.h"

#include "parts/shared/k_major_lines.h"
#include "parts/shared/plane_pairs.h"

namespace gemmtune::codegen {
namespace {

constexpr int kVector = 4;                        // f32 elements of 16 bytes
constexpr int64_t kMostTiles = int64_t{1} << 31;  // in a grid

KMajorLines of_a(const Problem& p) {
  return {p.shape.m, p.shape.k, p.stride_a, p.batch};
}
KMajorLines of_b(const Problem& p) {
  return {p.shape.n, p.shape.k, p.stride_b, p.batch};
}

class WgmmaTf32Planes final : public WgmmaPlanesStrategy {
 public:
  WgmmaTf32Planes()
      : WgmmaPlanesStrategy(DataType::f32, PlanePairs<k3xTf32>::kPlanes, kKMajorThreads) {}

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
    if (split_grid(problem).blocks >= kMostTiles)
      return make_error(ErrorKind::unsupported, "splits operands in at most 2^31 tiles");
    return wgmma::fits(problem, capability);
  }

  // Of the planes.
  KernelTraits main_traits(const KernelSpec& spec) const override {
    KernelTraits out = spec.traits;
    out.a_row_major = true;
    out.b_row_major = false;
    out.vector_a = out.vector_b = kVector;
    return out;
  }

 private:
  static PlaneLines of(const KMajorLines& lines) {
    return {lines.ld, lines.lines * lines.ld, lines.entries};
  }
  PlaneLines lines_of_a(const Problem& problem) const override { return of(of_a(problem)); }
  PlaneLines lines_of_b(const Problem& problem) const override { return of(of_b(problem)); }

  BlockCount split_grid(const Problem& problem) const override {
    return {of_a(problem).tiles() + of_b(problem).tiles(), "t"};
  }
  std::string preamble() const override {
    return fmt::format(
        "e: the elements of A and B, m (of A) and n (of B) lines of k for each batch entry, with k "
        "rounded up to multiples of {0}.\n"
        "t: the tiles of {1} lines, the last of an entry not full, and {0} of k in them.\n",
        kKMajorDepth, kKMajorRows);
  }
};

}  // namespace

const Strategy& wgmma_tf32_planes() {
  static const WgmmaTf32Planes strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
