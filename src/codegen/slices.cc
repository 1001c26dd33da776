#include "codegen/slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/simt_rules.h"
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

// All partial products together.
int64_t partial_bytes(const KernelSpec& spec, const Problem& problem) {
  return problem.shape.m * problem.shape.n * problem.batch * spec.tile.slices *
         static_cast<int64_t>(sizeof(float));
}

int finish_vectors(const KernelSpec& spec) {
  return slice_finish_vectors(spec.tile.slices, spec.traits.vector_c);
}

unsigned blocks_for(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
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

int64_t workspace_bytes(const KernelSpec& spec, const Problem& problem) {
  if (!split(spec.tile) || spec.tile.reduction != kReduceWorkspace) return 0;
  return partial_bytes(spec, problem);
}

std::vector<EntryPoint> further_entry_points(const KernelSpec& spec) {
  if (!split(spec.tile) || clustered(spec.tile)) return {};
  if (spec.tile.reduction == kReduceWorkspace) {
    return {{"_finish", "finish", kSliceFinishThreads, "kFinishThreads", 0}};
  }
  return {{"_prepare", "prepare", kSlicePrepareThreads, "kPrepareThreads", 0}};
}

LaunchPlan sliced(LaunchPlan plan, const KernelSpec& spec, const Problem& problem) {
  if (!split(spec.tile)) return plan;
  const auto slices = static_cast<unsigned>(spec.tile.slices);
  plan.launches[0].grid.x *= slices;
  plan.reduction_bytes = 2 * partial_bytes(spec, problem);
  const int64_t vectors = problem.shape.m * problem.shape.n * problem.batch / spec.traits.vector_c;
  if (clustered(spec.tile)) {
    plan.launches[0].cluster = {slices, 1, 1};
  } else if (spec.tile.reduction == kReduceAtomic) {
    plan.launches.insert(plan.launches.begin(), {1,
                                                 {blocks_for(vectors, kSlicePrepareThreads), 1, 1},
                                                 {kSlicePrepareThreads, 1, 1},
                                                 {},
                                                 0});
  } else {
    plan.launches.push_back(
        {1, {blocks_for(vectors, finish_vectors(spec)), 1, 1}, {kSliceFinishThreads, 1, 1}, {}, 0});
    plan.workspace_bytes = workspace_bytes(spec, problem);
  }
  return plan;
}

std::string launch_notes(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  if (!split(t)) return {};
  if (clustered(t)) {
    return fmt::format("Launch with cudaLaunchKernelEx and a cluster of {} x 1 x 1 blocks.\n",
                       t.slices);
  }
  if (t.reduction == kReduceAtomic) {
    return fmt::format("Before it: {}_prepare<<<ceil(m * n * batch / {}), {}>>>(args)\n",
                       kernel_name(spec), kSlicePrepareThreads * spec.traits.vector_c,
                       kSlicePrepareThreads);
  }
  return fmt::format(
      "After it: {}_finish<<<ceil(m * n * batch / {}), {}>>>(args)\n"
      "args.workspace: {} * m * n * batch floats, 16-byte aligned.\n",
      kernel_name(spec), finish_vectors(spec) * spec.traits.vector_c, kSliceFinishThreads,
      t.slices);
}

}  // namespace gemmtune::codegen::slices
