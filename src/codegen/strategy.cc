#include "codegen/strategy.h"

#include <algorithm>

#include "codegen/emitter.h"
#include "codegen/tiling.h"
#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen {

Arch Strategy::code_arch(Arch capability) const {
  return capability_of(capability);
}

int Strategy::least_registers(const KernelSpec&) const {
  return 0;
}

bool Strategy::worthwhile(const KernelSpec&, const Problem&) const {
  return true;
}

bool Strategy::deterministic(const KernelSpec&) const {
  return true;
}

LoadBytes Strategy::loads(const KernelSpec& spec) const {
  const int bytes = size_bytes(spec.type);
  const double thread = tiling::loaded_bytes(bytes, spec.tile.thread_m, spec.tile.thread_n);
  if (smem_bytes(spec) == 0) return {thread, 0};
  return {tiling::loaded_bytes(bytes, spec.tile.tile_m, spec.tile.tile_n), thread};
}

std::vector<EntryPoint> Strategy::entry_points(const KernelSpec& spec) const {
  return {{"", "run", threads(spec.tile), "kThreads", spec.tile.min_blocks, smem_bytes(spec)}};
}

LaunchPlan Strategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  LaunchPlan plan;
  plan.launches.push_back(launch_of(spec, 0, tiling::tile_grid(spec.tile, problem)));
  return plan;
}

bool Strategy::is_geometry(std::string_view parameter) const {
  // What fills the buffers is part of it: no way of copying takes all tiles that another takes.
  constexpr std::string_view kNames[] = {"tile_m",   "tile_n",   "tile_k", "warp_m", "warp_n",
                                         "thread_m", "thread_n", "stages", "copy",   "copy_scope"};
  return std::find(std::begin(kNames), std::end(kNames), parameter) != std::end(kNames);
}

MainloopCost Strategy::mainloop(const KernelSpec& spec) const {
  const TileConfig& t = spec.tile;
  MainloopCost cost;
  cost.step_depth = t.tile_k;
  cost.steps_ahead = 1;
  cost.load_a = access_width(t, spec.traits.vector_a);
  cost.load_b = access_width(t, spec.traits.vector_b);
  cost.groups = std::max(1, t.groups);
  cost.result_rows = std::max(1, t.thread_m);
  cost.result_columns = std::max(1, t.thread_n);
  return cost;
}

KernelWork Strategy::work(const KernelSpec& spec, const Problem& problem) const {
  return {tiling::tile_blocks(spec.tile, problem), problem.shape.k, 1, 0};
}

std::string_view Strategy::file_text(std::string_view path) const {
  return template_text(path);
}

std::vector<SourceHeader> Strategy::written_headers(const KernelSpec&) const {
  return {};
}

}  // namespace gemmtune::codegen
