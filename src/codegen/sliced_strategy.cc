#include "codegen/sliced_strategy.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/slices.h"
#include "codegen/tiling.h"

namespace gemmtune::codegen {
namespace {

int64_t groups(const TileConfig& tile) {
  return std::max(1, tile.groups);
}

// Parts that the k of a tile of C is cut into.
int64_t parts(const TileConfig& tile) {
  return groups(tile) * std::max(1, tile.slices);
}

int64_t tiles_k(const KernelSpec& spec, const Problem& problem) {
  return (problem.shape.k + spec.tile.tile_k - 1) / spec.tile.tile_k;
}

}  // namespace

bool SlicedStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  return parts(spec.tile) <= tiles_k(spec, problem) &&
         workspace_bytes(spec, problem) <= slices::kMaxWorkspaceBytes;
}

int64_t SlicedStrategy::workspace_bytes(const KernelSpec& spec, const Problem& problem) const {
  return slices::workspace_bytes(spec, problem);
}

bool SlicedStrategy::deterministic(const KernelSpec& spec) const {
  return slices::deterministic(spec.tile);
}

int64_t SlicedStrategy::block_depth(const KernelSpec& spec, const Problem& problem) const {
  const int64_t count = parts(spec.tile);
  const int64_t part = (tiles_k(spec, problem) + count - 1) / count * spec.tile.tile_k;
  return part * groups(spec.tile);
}

std::vector<EntryPoint> SlicedStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = Strategy::entry_points(spec);
  for (const EntryPoint& entry : slices::further_entry_points(spec)) entries.push_back(entry);
  return entries;
}

LaunchPlan SlicedStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  return slices::sliced(tiling::single_launch(spec, problem), spec, problem);
}

std::string SlicedStrategy::launch_notes(const KernelSpec& spec) const {
  const TileConfig& t = spec.tile;
  return fmt::format(
             "{}<<<grid, {}, {}>>>(args)\n"
             "grid = ceil(m / {}) * ceil(n / {}) * batch * {}; args is gemmtune::GemmArgs, "
             "below.\n",
             kernel_name(spec), threads(t), smem_bytes(spec), t.tile_m, t.tile_n, t.slices) +
         slices::launch_notes(spec);
}

}  // namespace gemmtune::codegen
