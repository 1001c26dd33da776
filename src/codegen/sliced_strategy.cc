#include "codegen/sliced_strategy.h"

#include <algorithm>

#include "codegen/slices.h"
#include "codegen/tiling.h"

#include "parts/shared/partial_tiles.h"

namespace gemmtune::codegen {
namespace {

int64_t groups(const TileConfig& tile) {
  return std::max(1, tile.groups);
}

// Parts that the k of a tile of C is cut into.
int64_t parts(const TileConfig& tile) {
  return groups(tile) * std::max(1, tile.slices);
}

}  // namespace

bool SlicedStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  return parts(spec.tile) <= slices::tiles_k(spec, problem) &&
         slices::workspace_bytes(spec, problem) <= slices::kMaxWorkspaceBytes;
}

bool SlicedStrategy::deterministic(const KernelSpec& spec) const {
  return slices::deterministic(spec.tile);
}

KernelWork SlicedStrategy::work(const KernelSpec& spec, const Problem& problem) const {
  KernelWork work = Strategy::work(spec, problem);
  const int64_t count = parts(spec.tile);
  const int64_t part = (slices::tiles_k(spec, problem) + count - 1) / count * spec.tile.tile_k;
  work.block_depth = part * groups(spec.tile);
  slices::add_work(spec, problem, work);
  return work;
}

std::vector<EntryPoint> SlicedStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = Strategy::entry_points(spec);
  for (const EntryPoint& entry : slices::further_entry_points(spec)) entries.push_back(entry);
  return entries;
}

LaunchPlan SlicedStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  return slices::launch_plan(spec, problem, kPartialVector);
}

}  // namespace gemmtune::codegen
