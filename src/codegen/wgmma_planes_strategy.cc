#include "codegen/wgmma_planes_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "codegen/aligned_copies.h"

#include "parts/shared/wgmma_tiles.h"

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
constexpr int64_t kMostParts = 64;
// Of a part's plan, and of its main launch's arguments.
constexpr size_t kSplitLaunch = 0;
constexpr size_t kMainLaunch = 1;
constexpr size_t kMapOfB = 2;

// Makes a launch for a problem of `rows` rows one of those rows of C from `first` on.
void take_rows(const Problem& problem, int64_t first, int64_t rows, KernelLaunch& launch) {
  for (KernelArgument& argument : launch.arguments) {
    if (auto* gemm = std::get_if<GemmArgument>(&argument)) {
      gemm->first_row = first;
      gemm->rows = rows;
    } else if (auto* map = std::get_if<TensorMapArgument>(&argument)) {
      if (map->buffer == Buffer::c)
        map->offset_bytes += first * problem.ldc * size_bytes(result_type(problem));
    }
  }
}

}  // namespace

WgmmaPlanesStrategy::WgmmaPlanesStrategy(DataType plane, int planes, int split_threads,
                                         int64_t most_bytes)
    : WgmmaStrategy(kPlanesRules),
      plane_(plane),
      planes_(planes),
      split_threads_(split_threads),
      most_bytes_(most_bytes) {}

std::span<const std::string_view> WgmmaPlanesStrategy::parameters() const {
  return kPlanesParameters;
}

int64_t WgmmaPlanesStrategy::elements(const Problem& problem) const {
  const PlaneLines a = lines_of_a(problem);
  const PlaneLines b = lines_of_b(problem);
  return a.entries * a.elements + b.entries * b.elements;
}

std::optional<int64_t> WgmmaPlanesStrategy::rows_of_part(const KernelSpec& spec,
                                                         const Problem& problem) const {
  const int64_t m = problem.shape.m;
  if (workspace_bytes(problem) <= most_bytes_) return m;
  const int64_t unit = static_cast<int64_t>(spec.tile.tile_m) * at_least_one(spec.tile.cluster_m);
  Problem part = problem;
  for (int64_t parts = 2; parts <= kMostParts; ++parts) {
    const int64_t units = (m + parts * unit - 1) / (parts * unit);
    part.shape.m = std::min(m, units * unit);
    if (workspace_bytes(part) <= most_bytes_) return part.shape.m;
  }
  return std::nullopt;
}

bool WgmmaPlanesStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  return rows_of_part(spec, problem) && WgmmaStrategy::worthwhile(spec, problem);
}

KernelWork WgmmaPlanesStrategy::work(const KernelSpec& spec, const Problem& problem) const {
  KernelWork work = WgmmaStrategy::work(spec, problem);
  const int64_t rows = rows_of_part(spec, problem).value_or(problem.shape.m);
  const int64_t parts = (problem.shape.m + rows - 1) / rows;
  work.launches = static_cast<int>(2 * parts);
  // f32 is read, planes are written.
  const PlaneLines b = lines_of_b(problem);
  const int64_t again = split_grid_of_a(problem) ? 0 : (parts - 1) * b.entries * b.elements;
  work.reduction_bytes =
      (elements(problem) + again) * (size_bytes(DataType::f32) + bytes_of_element());
  return work;
}

std::vector<EntryPoint> WgmmaPlanesStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = WgmmaStrategy::entry_points(spec);
  entries.push_back({"_prepare", "prepare", split_threads_, "kPrepareThreads"});
  return entries;
}

LaunchPlan WgmmaPlanesStrategy::plan_of_part(const KernelSpec& spec, const Problem& part) const {
  LaunchPlan plan = WgmmaStrategy::launch_plan(spec, part);
  plan.launches.insert(plan.launches.begin(), launch_of(spec, kSplitEntry, split_grid(part)));
  plan.workspace_bytes = workspace_bytes(part);
  return plan;
}

// Has a part's plan use the planes of B that the first part made.
void WgmmaPlanesStrategy::keep_planes_of_b(const KernelSpec& spec, const Problem& part,
                                           const LaunchPlan& first, LaunchPlan& plan) const {
  const auto of_a = split_grid_of_a(part);
  if (!of_a) return;
  plan.launches[kSplitLaunch] = launch_of(spec, kSplitEntry, *of_a);
  plan.launches[kMainLaunch].arguments[kMapOfB] = first.launches[kMainLaunch].arguments[kMapOfB];
}

LaunchPlan WgmmaPlanesStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  const int64_t m = problem.shape.m;
  const int64_t rows = rows_of_part(spec, problem).value_or(m);
  LaunchPlan plan;
  for (int64_t first = 0; first < m; first += rows) {
    Problem part = problem;
    part.shape.m = std::min(rows, m - first);
    LaunchPlan of_part = plan_of_part(spec, part);
    if (first > 0) keep_planes_of_b(spec, part, plan, of_part);
    plan.workspace_bytes = std::max(plan.workspace_bytes, of_part.workspace_bytes);
    for (KernelLaunch& launch : of_part.launches) {
      if (rows < m) take_rows(problem, first, part.shape.m, launch);
      plan.launches.push_back(std::move(launch));
    }
  }
  plan.writes_c_early = rows < m;
  plan.quantities = quantities(spec);
  plan.limit = limit();
  plan.workspace_formula =
      fmt::format("{} * {}", bytes_of_element(), aligned_copies::sum_of_copies(true, true));
  return plan;
}

wgmma::MatrixPlace WgmmaPlanesStrategy::place_of(const PlaneLines& lines, char letter) const {
  return {Buffer::workspace,
          0,
          lines.ld,
          lines.elements,
          lines.entries * planes_,
          fmt::format("ld_{}", letter),
          fmt::format("plane_{}", letter),
          fmt::format("{} * entries_{}", planes_, letter)};
}
wgmma::MatrixPlace WgmmaPlanesStrategy::place_of_a(const KernelSpec&,
                                                   const Problem& problem) const {
  return place_of(lines_of_a(problem), 'a');
}
// Behind the planes of A.
wgmma::MatrixPlace WgmmaPlanesStrategy::place_of_b(const KernelSpec&,
                                                   const Problem& problem) const {
  const PlaneLines a = lines_of_a(problem);
  wgmma::MatrixPlace place = place_of(lines_of_b(problem), 'b');
  place.offset_bytes = a.entries * a.elements * bytes_of_element();
  place.offset_formula = fmt::format("{} * entries_a * plane_a", bytes_of_element());
  return place;
}

}  // namespace gemmtune::codegen
