#include <fmt/format.h>

#include <array>

#include "codegen/aligned_copies.h"
#include "codegen/registry.h"
#include "codegen/wgmma_strategy.h"
#include "codegen/workspace_limits.h"

#include "parts/shared/bf16_planes.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 13> kParameters = {
    "tile_m",   "tile_n",    "tile_k",    "stages",    "consumers",         "schedule",
    "exchange", "promotion", "cluster_m", "cluster_n", "persistent_blocks", "min_blocks",
    "raster"};

constexpr int64_t kMostChunks = int64_t{1} << 31;  // of kSplitElements
constexpr int kEntry = 1;

constexpr std::array kOwnRules = {
    Rule{"sums of at least one tile of k", "they are promoted after each part of k",
         [](const RuleInput& in) { return in.spec.tile.promotion >= 1; }},
};

Bf16Planes planes_of_a(const Problem& p) {
  return {{p.layout.a == Order::row_major, p.shape.m, p.shape.k, p.stride_a, p.batch}};
}
Bf16Planes planes_of_b(const Problem& p) {
  return {{p.layout.b != Order::row_major, p.shape.n, p.shape.k, p.stride_b, p.batch}};
}

int64_t chunks(const Problem& p) {
  return (planes_of_a(p).elements() + planes_of_b(p).elements()) / kBf16Planes / kSplitElements;
}

int64_t workspace_bytes(const Problem& p) {
  return (planes_of_a(p).elements() + planes_of_b(p).elements()) * size_bytes(DataType::bf16);
}

wgmma::MatrixPlace place_of(const Bf16Planes& planes, int64_t offset_elements) {
  return {Buffer::workspace,         offset_elements * size_bytes(DataType::bf16),
          planes.lines.ld,           planes.plane(),
          planes.matrices(),         "the planes' leading dimension",
          "the elements of a plane", fmt::format("{} * batch", kBf16Planes)};
}

class WgmmaPlanes final : public WgmmaStrategy {
 public:
  WgmmaPlanes() : WgmmaStrategy(kOwnRules) {}

  std::string_view name() const override { return "wgmma_planes"; }
  std::string_view summary() const override {
    return "f32 on Hopper's tensor cores: operands as sums of three bf16 values, wgmma_tma on six "
           "or nine products of those";
  }
  std::string_view template_file() const override { return "wgmma_planes.cuh"; }
  std::string_view template_name() const override { return "WgmmaPlanes"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }

  Expected<void> supports(const Problem& problem, Arch capability) const override {
    if (problem.math != MathMode::bf16x6 && problem.math != MathMode::bf16x9) {
      return make_error(ErrorKind::unsupported, "computes f32 with --math bf16x6 or bf16x9 only");
    }
    if (chunks(problem) > kMostChunks)
      return make_error(ErrorKind::unsupported, "splits at most 2^34 elements of operands");
    return wgmma::fits(problem, capability);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    return workspace_bytes(problem) <= kMostPlanesBytes && WgmmaStrategy::worthwhile(spec, problem);
  }

  // Of the planes.
  KernelTraits main_traits(const KernelSpec& spec) const override {
    return aligned_copies::aligned(spec.traits, DataType::bf16);
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
    entries.push_back({"_prepare", "prepare", kSplitThreads, "kPrepareThreads"});
    return entries;
  }

  KernelWork work(const KernelSpec& spec, const Problem& problem) const override {
    KernelWork work = WgmmaStrategy::work(spec, problem);
    ++work.launches;
    // f32 is read, planes are written.
    constexpr int64_t kMovedPerPlaneByte = 5;
    work.reduction_bytes = workspace_bytes(problem) * kMovedPerPlaneByte / 3;
    return work;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
    plan.preamble = fmt::format(
        "e: the elements of A and B, with lines padded to multiples of {} elements.\n", kLineUnit);
    constexpr int64_t kBlockElements = int64_t{kSplitThreads} * kSplitElements;
    const int64_t count = chunks(problem);
    plan.launches.insert(plan.launches.begin(),
                         launch_of(spec, kEntry,
                                   {(count + kSplitThreads - 1) / kSplitThreads,
                                    fmt::format("ceil(e / {})", kBlockElements)}));
    plan.workspace_bytes = workspace_bytes(problem);
    plan.workspace_formula = fmt::format("{} * e", kBf16Planes * size_bytes(DataType::bf16));
    return plan;
  }

 private:
  wgmma::MatrixPlace place_of_a(const KernelSpec&, const Problem& problem) const override {
    return place_of(planes_of_a(problem), 0);
  }
  wgmma::MatrixPlace place_of_b(const KernelSpec&, const Problem& problem) const override {
    return place_of(planes_of_b(problem), planes_of_a(problem).elements());
  }
};

}  // namespace

const Strategy& wgmma_planes() {
  static const WgmmaPlanes strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
