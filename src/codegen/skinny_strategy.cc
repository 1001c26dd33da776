#include "codegen/skinny_strategy.h"

#include <algorithm>
#include <array>
#include <bit>

#include "codegen/simt_rules.h"
#include "codegen/slices.h"
#include "codegen/tile_grid.h"
#include "core/arch.h"

namespace gemmtune::codegen::skinny_gemm {
namespace {

constexpr int kVector = 4;               // floats of 16 bytes, to which a slot is rounded
constexpr int kMeetingBytes = 32 << 10;  // as parts/skinny_results.cuh has it
constexpr int kMaxFew = 64;              // rows or columns of a problem that the search tries
constexpr int kOverheadRegisters = 20;   // addresses, counters, launch arguments
constexpr int kFirstAsyncArch = 80;
constexpr int64_t kMaxBlocks = 1 << 24;

bool power_of_two(int x) {
  return x > 0 && std::has_single_bit(static_cast<unsigned>(x));
}

// Whether chunks pass through shared memory; else they go straight to registers.
bool has_ring(const TileConfig& t) {
  return t.stages > 2;
}

bool all_powers_of_two(const TileConfig& t) {
  return power_of_two(t.tile_m) && power_of_two(t.tile_n) && power_of_two(t.thread_m) &&
         power_of_two(t.thread_n) && power_of_two(t.unroll) && power_of_two(t.warps);
}

constexpr std::array kRules = {
    Rule{"sizes are powers of two", "lanes, warps and vectors are halved when sums meet",
         [](const RuleInput& in) { return all_powers_of_two(in.spec.tile); }},
    Rule{"a thread computes the whole few side", "the few side is not shared out over lanes",
         [](const RuleInput& in) {
           const Geometry g(in.spec);
           return g.thread_few == g.few;
         }},
    Rule{"lanes along the long side divide a warp", "a warp is a grid of lanes",
         [](const RuleInput& in) {
           const Geometry g(in.spec);
           return g.lanes_long >= 1 && kWarpSize % g.lanes_long == 0;
         }},
    Rule{"at least 1 stage", "chunks of the long operand on their way",
         [](const RuleInput& in) { return in.spec.tile.stages >= 1; }},
    Rule{"3 and more stages need sm_80", "they are copied by cp.async",
         [](const RuleInput& in) {
           return !has_ring(in.spec.tile) || in.device.arch.number() >= kFirstAsyncArch;
         }},
};

// Of the results' way from lanes and warps to C: those of all warps if they take no more than
// kMeetingBytes, else of half of them.
int results_smem_bytes(const KernelSpec& spec) {
  const Geometry g(spec);
  const int results = g.few * g.long_side * size_bytes(spec.type);
  const int warps = spec.tile.warps;
  return (warps > 1 && warps * results > kMeetingBytes ? warps / 2 : warps) * results;
}

// Of the chunks on their way through shared memory.
int ring_bytes(const KernelSpec& spec, bool few_in_ring) {
  const TileConfig& t = spec.tile;
  if (!has_ring(t)) return 0;
  const Geometry g(spec);
  const int of_long = kWarpSize * t.warps * t.unroll * g.thread_long;
  const int of_few = few_in_ring ? (g.few * g.chunk + kVector - 1) / kVector * kVector : 0;
  return t.stages * (of_long + of_few) * size_bytes(spec.type);
}

// Values of k that a block multiplies.
int64_t block_depth(const KernelSpec& spec, const Problem& problem) {
  const int64_t chunk = std::max(1, Geometry(spec).chunk);
  const int64_t chunks = (problem.shape.k + chunk - 1) / chunk;
  const int64_t slices = std::max(1, spec.tile.slices);
  return (chunks + slices - 1) / slices * chunk;
}

int64_t few_extent(const Geometry& g, const Problem& problem) {
  return g.few_rows ? problem.shape.m : problem.shape.n;
}

}  // namespace

Geometry::Geometry(const KernelSpec& spec) {
  const TileConfig& t = spec.tile;
  few_rows = t.tile_m <= t.tile_n;
  few = few_rows ? t.tile_m : t.tile_n;
  long_side = few_rows ? t.tile_n : t.tile_m;
  thread_few = few_rows ? t.thread_m : t.thread_n;
  thread_long = few_rows ? t.thread_n : t.thread_m;
  const bool whole = thread_long > 0 && long_side % thread_long == 0;
  lanes_long = whole ? long_side / thread_long : 0;
  lanes_k = lanes_long > 0 ? kWarpSize / lanes_long : 0;
  chunk = t.warps * lanes_k * t.unroll;
  long_contiguous_k = few_rows ? !spec.traits.b_row_major : spec.traits.a_row_major;
  const int aligned = few_rows ? spec.traits.vector_b : spec.traits.vector_a;
  long_vector = std::min(aligned, long_contiguous_k ? t.unroll : thread_long);
}

SkinnyStrategy::SkinnyStrategy(Description description)
    : description_(std::move(description)),
      rules_(simt::joined({kRules, description_.rules, slices::rules(), simt::limit_rules()})) {}

Expected<void> SkinnyStrategy::supports(const Problem& problem, Arch) const {
  return simt::supports_f32(problem);
}

int SkinnyStrategy::smem_bytes(const KernelSpec& spec) const {
  const bool few_in_ring = description_.few_in_ring(spec.tile);
  return std::max(description_.smem_bytes(spec) + ring_bytes(spec, few_in_ring),
                  results_smem_bytes(spec));
}

int SkinnyStrategy::estimated_registers(const KernelSpec& spec) const {
  const Geometry g(spec);
  const int chunks_held = has_ring(spec.tile) ? 1 : spec.tile.stages;
  const int chunk = spec.tile.unroll * g.thread_long * chunks_held;
  return g.few * g.thread_long + chunk + description_.registers(spec) + kOverheadRegisters;
}

KernelWork SkinnyStrategy::work(const KernelSpec& spec, const Problem& problem) const {
  KernelWork work = Strategy::work(spec, problem);
  work.block_depth = block_depth(spec, problem);
  slices::add_work(spec, problem, work);
  return work;
}

MainloopCost SkinnyStrategy::mainloop(const KernelSpec& spec, const DeviceSpec& device) const {
  const Geometry g(spec);
  MainloopCost cost = Strategy::mainloop(spec, device);
  cost.path = OperandPath::streamed;
  cost.step_depth = g.chunk;
  cost.steps_ahead = spec.tile.stages - 1;
  cost.register_staged = !has_ring(spec.tile);
  (g.few_rows ? cost.load_b : cost.load_a) = g.long_vector;
  return cost;
}

// A few side with more than half its rows unused loses to the next smaller one; a slice needs a
// chunk of its own.
bool SkinnyStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  const Geometry g(spec);
  const int64_t few = few_extent(g, problem);
  if (few > kMaxFew || g.few >= 2 * few) return false;
  if (spec.tile.slices > 1 &&
      block_depth(spec, problem) * (spec.tile.slices - 1) >= problem.shape.k) {
    return false;
  }
  return tile_blocks(spec.tile, problem) <= kMaxBlocks;
}

bool SkinnyStrategy::deterministic(const KernelSpec& spec) const {
  return slices::deterministic(spec.tile);
}

// A word of the long operand serves the whole few side; one of the few operand a thread's long
// side, or the block's where it comes through shared memory.
LoadBytes SkinnyStrategy::loads(const KernelSpec& spec) const {
  const Geometry g(spec);
  const double word = size_bytes(spec.type);
  const double of_long = word / std::max(1, g.few);
  const double of_few = word / std::max(1, g.thread_long);
  const bool through_smem =
      description_.smem_bytes(spec) > 0 || description_.few_in_ring(spec.tile);
  if (!through_smem) return {of_long + of_few, 0};
  return {of_long + word / std::max(1, g.long_side), of_few};
}

std::vector<EntryPoint> SkinnyStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = Strategy::entry_points(spec);
  for (const EntryPoint& entry : slices::further_entry_points(spec)) entries.push_back(entry);
  return entries;
}

LaunchPlan SkinnyStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  return slices::launch_plan(spec, problem);
}

}  // namespace gemmtune::codegen::skinny_gemm
