#include "codegen/strategies/split_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/multistage_rules.h"
#include "codegen/simt_rules.h"

namespace gemmtune::codegen {
namespace {

constexpr int kFinishThreads = 256;  // as in split_k.cuh
constexpr int kFinishVectors = 32;   // a block
constexpr int kPrepareThreads = 256;
constexpr int kPartialPadding = 4;  // floats a row
constexpr int kPortableCluster = 8;
constexpr int kFirstClusterArch = 90;
constexpr int64_t kMaxWorkspaceBytes = int64_t{128} << 20;

constexpr std::array<std::string_view, 15> kParameters = {
    "tile_m", "tile_n", "tile_k",    "warp_m",     "warp_n", "thread_m",  "thread_n", "stages",
    "lanes",  "order",  "fragments", "min_blocks", "slices", "reduction", "raster"};

constexpr std::array kOwnRules = {
    Rule{"at least 2 slices", "with one this is the multistage strategy",
         [](const RuleInput& in) { return in.spec.tile.slices >= 2; }},
    Rule{"a known reduction", "workspace (0), atomic (1) or cluster (2)",
         [](const RuleInput& in) {
           return in.spec.tile.reduction >= kReduceWorkspace &&
                  in.spec.tile.reduction <= kReduceCluster;
         }},
    Rule{"a cluster has at most 8 blocks", "the portable limit",
         [](const RuleInput& in) {
           return in.spec.tile.reduction != kReduceCluster ||
                  in.spec.tile.slices <= kPortableCluster;
         }},
    Rule{"clusters need sm_90", "older archs have no distributed shared memory",
         [](const RuleInput& in) {
           return in.spec.tile.reduction != kReduceCluster ||
                  in.device.arch.number() >= kFirstClusterArch;
         }},
};

std::vector<Rule> all_rules() {
  std::vector<Rule> rules = simt::rules_with(multistage_loop::rules());
  rules.insert(rules.end(), kOwnRules.begin(), kOwnRules.end());
  return rules;
}

unsigned blocks_for(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

class SplitK final : public Strategy {
 public:
  SplitK() : rules_(all_rules()) {}

  std::string_view name() const override { return "split_k"; }
  std::string_view summary() const override {
    return "the multistage kernel with k shared out over several blocks a tile of C";
  }
  std::string_view template_file() const override { return "split_k.cuh"; }
  std::string_view template_name() const override { return "SplitK"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::span<const Rule> rules() const override { return rules_; }

  Expected<void> supports(const Problem& problem, Arch arch) const override {
    return multistage_loop::supports(name(), problem, arch);
  }

  bool worthwhile(const KernelSpec& spec, const Problem& problem) const override {
    const int64_t tiles_k = (problem.shape.k + spec.tile.tile_k - 1) / spec.tile.tile_k;
    return spec.tile.slices <= tiles_k && workspace_bytes(spec, problem) <= kMaxWorkspaceBytes;
  }

  bool deterministic(const KernelSpec& spec) const override {
    return spec.tile.reduction != kReduceAtomic;
  }

  int threads(const TileConfig& tile) const override { return simt::threads(tile); }

  int smem_bytes(const KernelSpec& spec) const override {
    const int pipeline = simt::smem_bytes(spec, spec.tile.stages);
    if (spec.tile.reduction != kReduceCluster) return pipeline;
    return std::max(
        pipeline, spec.tile.tile_m * (spec.tile.tile_n + kPartialPadding) * size_bytes(spec.type));
  }

  int estimated_registers(const KernelSpec& spec) const override {
    return multistage_loop::estimated_registers(spec);
  }

  int64_t block_depth(const KernelSpec& spec, const Problem& problem) const override {
    const int64_t tiles_k = (problem.shape.k + spec.tile.tile_k - 1) / spec.tile.tile_k;
    return (tiles_k + spec.tile.slices - 1) / spec.tile.slices * spec.tile.tile_k;
  }

  std::vector<EntryPoint> entry_points(const KernelSpec& spec) const override {
    std::vector<EntryPoint> entries = Strategy::entry_points(spec);
    if (spec.tile.reduction == kReduceWorkspace) {
      entries.push_back({"_finish", "finish", kFinishThreads, "kFinishThreads", 0});
    } else if (spec.tile.reduction == kReduceAtomic) {
      entries.push_back({"_prepare", "prepare", kPrepareThreads, "kPrepareThreads", 0});
    }
    return entries;
  }

  LaunchPlan launch_plan(const KernelSpec& spec, const Problem& problem) const override {
    LaunchPlan plan = simt::single_launch(spec, problem);
    const auto slices = static_cast<unsigned>(spec.tile.slices);
    plan.launches[0].grid.x *= slices;
    plan.reduction_bytes = 2 * partial_bytes(spec, problem);
    const int64_t vectors =
        problem.shape.m * problem.shape.n * problem.batch / spec.traits.vector_c;
    if (spec.tile.reduction == kReduceCluster) {
      plan.launches[0].cluster = {slices, 1, 1};
    } else if (spec.tile.reduction == kReduceAtomic) {
      plan.launches.insert(
          plan.launches.begin(),
          {1, {blocks_for(vectors, kPrepareThreads), 1, 1}, {kPrepareThreads, 1, 1}, {}, 0});
    } else {
      plan.launches.push_back(
          {1, {blocks_for(vectors, kFinishVectors), 1, 1}, {kFinishThreads, 1, 1}, {}, 0});
      plan.workspace_bytes = workspace_bytes(spec, problem);
    }
    return plan;
  }

  std::string launch_notes(const KernelSpec& spec) const override {
    const TileConfig& t = spec.tile;
    std::string text = fmt::format(
        "{}<<<grid, {}, {}>>>(args)\n"
        "grid = ceil(m / {}) * ceil(n / {}) * batch * {}; args is gemmtune::GemmArgs, below.\n",
        kernel_name(spec), threads(t), smem_bytes(spec), t.tile_m, t.tile_n, t.slices);
    if (t.reduction == kReduceCluster) {
      text += fmt::format("Launch with cudaLaunchKernelEx and a cluster of {} x 1 x 1 blocks.\n",
                          t.slices);
    } else if (t.reduction == kReduceAtomic) {
      text +=
          fmt::format("Before it: {}_prepare<<<ceil(m * n * batch / {}), {}>>>(args)\n",
                      kernel_name(spec), kPrepareThreads * spec.traits.vector_c, kPrepareThreads);
    } else {
      text += fmt::format(
          "After it: {}_finish<<<ceil(m * n * batch / {}), {}>>>(args)\n"
          "args.workspace: {} * m * n * batch floats, 16-byte aligned.\n",
          kernel_name(spec), kFinishVectors * spec.traits.vector_c, kFinishThreads, t.slices);
    }
    return text;
  }

 private:
  static int64_t workspace_bytes(const KernelSpec& spec, const Problem& problem) {
    return spec.tile.reduction == kReduceWorkspace ? partial_bytes(spec, problem) : 0;
  }

  // All partial tiles together.
  static int64_t partial_bytes(const KernelSpec& spec, const Problem& problem) {
    return problem.shape.m * problem.shape.n * problem.batch * spec.tile.slices *
           size_bytes(spec.type);
  }

  std::vector<Rule> rules_;
};

}  // namespace

const Strategy& split_k() {
  static const SplitK strategy;
  return strategy;
}

}  // namespace gemmtune::codegen
