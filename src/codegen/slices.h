#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/strategy.h"

// What strategies that share out the k of a tile of C over several blocks (TileConfig::slices) have
// in common on the host: rules, further kernels, workspace. The device side is
// parts/reduce/reduction.cuh.

namespace gemmtune::codegen::slices {

// Most workspace that a candidate may ask for its partial sums.
inline constexpr int64_t kMaxWorkspaceBytes = int64_t{128} << 20;

// Rules on TileConfig::reduction and the cluster it may need.
std::span<const Rule> rules();

// Rules on TileConfig::groups, where groups of warp tiles share out k within a block.
std::span<const Rule> group_rules();

// False where the reduction's order, and so the rounding, varies from run to run.
bool deterministic(const TileConfig& tile);

// Tiles of tile_k along k, which slices share out.
int64_t tiles_k(const KernelSpec& spec, const Problem& problem);

// Bytes of a slot of the workspace, which holds a tile of partial sums.
int64_t slot_bytes(const TileConfig& tile);

// Bytes of workspace: a slot for each slice of each tile, or 0 if the reduction needs none.
int64_t workspace_bytes(const KernelSpec& spec, const Problem& problem);

// The kernel that adds up slots.
EntryPoint finish_entry_point();

// The kernel that runs before or after the main one, if the reduction has one.
std::vector<EntryPoint> further_entry_points(const KernelSpec& spec);

// `slices` blocks per tile of C, and what adds up their sums, `vector` columns at a time.
LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem, int vector);

// Turns the work of one block per tile into that of `slices`.
void add_work(const KernelSpec& spec, const Problem& problem, KernelWork& work);

}  // namespace gemmtune::codegen::slices
