#include "codegen/wgmma_planes_strategy.h"

#include <fmt/format.h>

#include <array>

#include "codegen/workspace_limits.h"

namespace gemmtune::codegen {
namespace {

constexpr std::array<std::string_view, 13> kPlanesParameters = {
    "tile_m",   "tile_n",    "tile_k",    "stages",    "consumers",         "schedule",
    "exchange", "promotion", "cluster_m", "cluster_n", "persistent_blocks", "min_blocks",
    "raster"};

constexpr std::array kPlanesRules = {
    Rule{"sums of at least one tile of k", "they are promoted after each part of k",
         [](const RuleInput& in) { return in.spec.tile.promotion >= 1; }},
};

constexpr int kSplitEntry = 1;

}  // namespace

WgmmaPlanesStrategy::WgmmaPlanesStrategy(DataType plane, int planes, int split_threads)
    : WgmmaStrategy(kPlanesRules), plane_(plane), planes_(planes), split_threads_(split_threads) {}

std::span<const std::string_view> WgmmaPlanesStrategy::parameters() const {
  return kPlanesParameters;
}

int64_t WgmmaPlanesStrategy::elements(const Problem& problem) const {
  const PlaneLines a = lines_of_a(problem);
  const PlaneLines b = lines_of_b(problem);
  return a.entries * a.elements + b.entries * b.elements;
}

bool WgmmaPlanesStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  return elements(problem) * bytes_of_element() <= kMostPlanesBytes &&
         WgmmaStrategy::worthwhile(spec, problem);
}

KernelWork WgmmaPlanesStrategy::work(const KernelSpec& spec, const Problem& problem) const {
  KernelWork work = WgmmaStrategy::work(spec, problem);
  ++work.launches;
  // f32 is read, planes are written.
  work.reduction_bytes = elements(problem) * (size_bytes(DataType::f32) + bytes_of_element());
  return work;
}

std::vector<EntryPoint> WgmmaPlanesStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
  entries.push_back({"_prepare", "prepare", split_threads_, "kPrepareThreads"});
  return entries;
}

LaunchPlan WgmmaPlanesStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  LaunchPlan plan = WgmmaStrategy::launch_plan(spec, problem);
  plan.preamble = preamble();
  plan.launches.insert(plan.launches.begin(), launch_of(spec, kSplitEntry, split_grid(problem)));
  plan.workspace_bytes = elements(problem) * bytes_of_element();
  plan.workspace_formula = fmt::format("{} * e", bytes_of_element());
  return plan;
}

wgmma::MatrixPlace WgmmaPlanesStrategy::place_of(const PlaneLines& lines,
                                                 int64_t offset_elements) const {
  return {Buffer::workspace,
          offset_elements * bytes_of_element(),
          lines.ld,
          lines.elements,
          lines.entries * planes_,
          "the planes' leading dimension",
          "the elements of a plane",
          fmt::format("{} * batch", planes_)};
}
wgmma::MatrixPlace WgmmaPlanesStrategy::place_of_a(const KernelSpec&,
                                                   const Problem& problem) const {
  return place_of(lines_of_a(problem), 0);
}
wgmma::MatrixPlace WgmmaPlanesStrategy::place_of_b(const KernelSpec&,
                                                   const Problem& problem) const {
  const PlaneLines a = lines_of_a(problem);
  return place_of(lines_of_b(problem), a.entries * a.elements);
}

}  // namespace gemmtune::codegen
