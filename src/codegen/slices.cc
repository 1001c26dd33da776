#include "codegen/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/simt_rules.h"
#include "codegen/tiling.h"
#include "core/arch.h"

#include "parts/shared/partial_tiles.h"
#include "parts/shared/thread_tiles.h"

namespace gemmtune::codegen::slices {
namespace {

constexpr int kPortableCluster = 8;
constexpr int kFirstClusterArch = 90;
constexpr int kMostGroupBarriers = 15;  // a block has 16, one of them for the whole block

bool split(const TileConfig& tile) {
  return tile.slices > 1;
}

bool clustered(const TileConfig& tile) {
  return split(tile) && tile.reduction == kReduceCluster;
}

constexpr std::array kRules = {
    Rule{"a known reduction", "workspace (0), atomic (1) or cluster (2)",
         [](const RuleInput& in) {
           return in.spec.tile.reduction >= kReduceWorkspace &&
                  in.spec.tile.reduction <= kReduceCluster;
         }},
    Rule{"no reduction without slices", "the kernels would be the same",
         [](const RuleInput& in) {
           return split(in.spec.tile) || in.spec.tile.reduction == kReduceWorkspace;
         }},
    Rule{"no activation after atomic additions", "no block knows when the last one was made",
         [](const RuleInput& in) {
           return in.spec.tile.reduction != kReduceAtomic ||
                  in.spec.traits.epilogue.activation == kNoActivation;
         }},
    Rule{"a cluster has at most 8 blocks", "the portable limit",
         [](const RuleInput& in) {
           return !clustered(in.spec.tile) || in.spec.tile.slices <= kPortableCluster;
         }},
    Rule{"clusters need sm_90", "older archs have no distributed shared memory",
         [](const RuleInput& in) {
           return !clustered(in.spec.tile) || in.device.arch.number() >= kFirstClusterArch;
         }},
};

constexpr std::array kGroupRules = {
    Rule{"a barrier for each group", "a block has 16, and groups of one warp need none",
         [](const RuleInput& in) {
           return in.spec.tile.groups <= kMostGroupBarriers ||
                  warp_tile_threads(in.spec.tile) == kWarpSize;
         }},
};

bool in_workspace(const TileConfig& tile) {
  return split(tile) && tile.reduction == kReduceWorkspace;
}

}  // namespace

std::span<const Rule> rules() {
  return kRules;
}

std::span<const Rule> group_rules() {
  return kGroupRules;
}

bool deterministic(const TileConfig& tile) {
  return !split(tile) || tile.reduction != kReduceAtomic;
}

int64_t tiles_k(const KernelSpec& spec, const Problem& problem) {
  return (problem.shape.k + spec.tile.tile_k - 1) / spec.tile.tile_k;
}

int64_t slot_bytes(const TileConfig& tile) {
  return int64_t{slot_floats(tile)} * static_cast<int64_t>(sizeof(float));
}

int64_t workspace_bytes(const KernelSpec& spec, const Problem& problem) {
  if (!in_workspace(spec.tile)) return 0;
  return tiling::tile_blocks(spec.tile, problem) * spec.tile.slices * slot_bytes(spec.tile);
}

EntryPoint finish_entry_point() {
  return {"_finish", "finish", kFinishThreads, "kFinishThreads"};
}

std::vector<EntryPoint> further_entry_points(const KernelSpec& spec) {
  if (!split(spec.tile) || clustered(spec.tile)) return {};
  if (in_workspace(spec.tile)) return {finish_entry_point()};
  return {{"_prepare", "prepare", kPrepareThreads, "kPrepareThreads"}};
}

LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem, int vector) {
  const TileConfig& t = spec.tile;
  LaunchPlan plan;
  plan.launches.push_back(launch_of(spec, 0, tiling::tile_grid(t, problem, std::max(1, t.slices))));
  if (!split(t)) return plan;
  if (clustered(t)) {
    plan.launches[0].config.cluster.x = static_cast<uint32_t>(t.slices);
  } else if (t.reduction == kReduceAtomic) {
    const BlockCount blocks = tiling::element_grid(kPrepareThreads * spec.traits.vector_c, problem);
    plan.launches.insert(plan.launches.begin(), launch_of(spec, 1, blocks));
    plan.writes_c_early = true;
  } else {
    const int blocks = finish_blocks_of_tile(slot_floats(t), vector, finish_ways(t.slices, vector));
    plan.launches.push_back(launch_of(spec, 1, tiling::tile_grid(t, problem, blocks)));
    plan.workspace_bytes = workspace_bytes(spec, problem);
    plan.workspace_formula =
        tiling::tile_grid(t, problem).formula + fmt::format(" * {}", t.slices * slot_bytes(t));
  }
  return plan;
}

void add_work(const KernelSpec& spec, const Problem& problem, KernelWork& work) {
  if (!split(spec.tile)) return;
  work.blocks *= spec.tile.slices;
  const int64_t partial_bytes = problem.shape.m * problem.shape.n * problem.batch *
                                spec.tile.slices * static_cast<int64_t>(sizeof(float));
  work.reduction_bytes =
      2 * (in_workspace(spec.tile) ? workspace_bytes(spec, problem) : partial_bytes);
  if (!clustered(spec.tile)) ++work.launches;
}

}  // namespace gemmtune::codegen::slices
