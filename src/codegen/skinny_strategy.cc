#include "codegen/skinny_strategy.h"

#include <algorithm>
#include <array>
#include <bit>

#include "codegen/simt_rules.h"
#include "codegen/slices.h"
#include "codegen/tiling.h"
#include "core/arch.h"

#include "parts/shared/partial_tiles.h"

namespace gemmtune::codegen::skinny_gemm {
namespace {

constexpr int kMostShort = 64;          // rows or columns of a problem that the search tries
constexpr int kOverheadRegisters = 20;  // addresses, counters, launch arguments
constexpr int64_t kMaxBlocks = 1 << 24;

bool power_of_two(int x) {
  return x > 0 && std::has_single_bit(static_cast<unsigned>(x));
}

// Whether chunks pass through shared memory; else they go straight to registers.
bool has_ring(const TileConfig& t) {
  return t.copy == kCopyAsync;
}

bool all_powers_of_two(const TileConfig& t) {
  return power_of_two(t.tile_m) && power_of_two(t.tile_n) && power_of_two(t.thread_m) &&
         power_of_two(t.thread_n) && power_of_two(t.unroll) && power_of_two(t.warps);
}

constexpr std::array kRules = {
    Rule{"sizes are powers of two", "lanes, warps and vectors are halved when sums meet",
         [](const RuleInput& in) { return all_powers_of_two(in.spec.tile); }},
    Rule{"a thread computes the whole short side", "the short side is not split over lanes",
         [](const RuleInput& in) {
           const Geometry g(in.spec);
           return g.thread_short == g.short_side;
         }},
    Rule{"lanes along the long side divide a warp", "a warp is a grid of lanes",
         [](const RuleInput& in) {
           const Geometry g(in.spec);
           return g.lanes_long >= 1 && kWarpSize % g.lanes_long == 0;
         }},
    Rule{"a known copy", "by cp.async (1) or straight to registers (2)",
         [](const RuleInput& in) {
           return in.spec.tile.copy == kCopyAsync || in.spec.tile.copy == kCopyDirect;
         }},
    Rule{"3 and more stages by cp.async, none without", "fewer hide less than registers do",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return has_ring(t) ? t.stages >= 3 : t.stages == 0;
         }},
    Rule{"1 fragment buffer, or 2 straight from global memory",
         "what comes through shared memory is on its way there already",
         [](const RuleInput& in) {
           const TileConfig& t = in.spec.tile;
           return t.fragments == 1 || (t.fragments == 2 && !has_ring(t));
         }},
    Rule{"copies by cp.async need sm_80", "older archs load straight to registers",
         [](const RuleInput& in) {
           return !has_ring(in.spec.tile) || in.device.arch.number() >= kFirstAsyncArch;
         }},
};

// Of the results' way from lanes and warps to C.
int results_smem_bytes(const KernelSpec& spec) {
  const Geometry g(spec);
  return warp_sums_bytes(spec.tile.warps, g.short_side * g.long_side);
}

// Of the chunks on their way through shared memory.
int ring_bytes(const KernelSpec& spec, bool short_in_ring) {
  const TileConfig& t = spec.tile;
  if (!has_ring(t)) return 0;
  const Geometry g(spec);
  const int of_short = short_in_ring ? short_stage_floats(g) : 0;
  return t.stages * (long_stage_floats(t, g) + of_short) * size_bytes(spec.type);
}

// Values of k that a block multiplies.
int64_t block_depth(const KernelSpec& spec, const Problem& problem) {
  const int64_t chunk = std::max(1, Geometry(spec).chunk);
  const int64_t chunks = (problem.shape.k + chunk - 1) / chunk;
  const int64_t slices = std::max(1, spec.tile.slices);
  return (chunks + slices - 1) / slices * chunk;
}

int64_t short_extent(const Geometry& g, const Problem& problem) {
  return g.short_rows ? problem.shape.m : problem.shape.n;
}

}  // namespace

SkinnyStrategy::SkinnyStrategy(Description description)
    : description_(std::move(description)),
      rules_(tiling::joined({kRules, description_.rules, slices::rules(), tiling::limit_rules()})) {
}

Expected<void> SkinnyStrategy::supports(const Problem& problem, Arch) const {
  return simt::supports_f32(problem);
}

int SkinnyStrategy::smem_bytes(const KernelSpec& spec) const {
  const bool short_in_ring = description_.short_in_ring(spec.tile);
  return std::max(description_.smem_bytes(spec) + ring_bytes(spec, short_in_ring),
                  results_smem_bytes(spec));
}

int SkinnyStrategy::estimated_registers(const KernelSpec& spec) const {
  const Geometry g(spec);
  const int chunks_held = std::max(1, spec.tile.fragments);
  const int chunk = spec.tile.unroll * g.thread_long * chunks_held;
  return g.short_side * g.thread_long + chunk + description_.registers(spec) + kOverheadRegisters;
}

KernelWork SkinnyStrategy::work(const KernelSpec& spec, const Problem& problem) const {
  KernelWork work = Strategy::work(spec, problem);
  work.block_depth = block_depth(spec, problem);
  slices::add_work(spec, problem, work);
  return work;
}

MainloopCost SkinnyStrategy::mainloop(const KernelSpec& spec) const {
  const Geometry g(spec);
  MainloopCost cost = Strategy::mainloop(spec);
  cost.path = OperandPath::streamed;
  cost.step_depth = g.chunk;
  cost.steps_ahead = has_ring(spec.tile) ? spec.tile.stages - 1 : spec.tile.fragments - 1;
  cost.register_staged = !has_ring(spec.tile);
  (g.short_rows ? cost.load_b : cost.load_a) = g.long_vector;
  return cost;
}

// A short side with more than half its rows unused loses to the next smaller one; a slice needs a
// chunk of its own.
bool SkinnyStrategy::worthwhile(const KernelSpec& spec, const Problem& problem) const {
  const Geometry g(spec);
  const int64_t extent = short_extent(g, problem);
  if (extent > kMostShort || g.short_side >= 2 * extent) return false;
  if (spec.tile.slices > 1 &&
      block_depth(spec, problem) * (spec.tile.slices - 1) >= problem.shape.k) {
    return false;
  }
  return tiling::tile_blocks(spec.tile, problem) <= kMaxBlocks;
}

bool SkinnyStrategy::deterministic(const KernelSpec& spec) const {
  return slices::deterministic(spec.tile);
}

// A word of the long operand serves the whole short side; one of the short operand a thread's long
// side, or the block's where it comes through shared memory.
LoadBytes SkinnyStrategy::loads(const KernelSpec& spec) const {
  const Geometry g(spec);
  const double word = size_bytes(spec.type);
  const double of_long = word / std::max(1, g.short_side);
  const double of_short = word / std::max(1, g.thread_long);
  const bool through_smem =
      description_.smem_bytes(spec) > 0 || description_.short_in_ring(spec.tile);
  if (!through_smem) return {of_long + of_short, 0};
  return {of_long + word / std::max(1, g.long_side), of_short};
}

std::vector<EntryPoint> SkinnyStrategy::entry_points(const KernelSpec& spec) const {
  std::vector<EntryPoint> entries = Strategy::entry_points(spec);
  for (const EntryPoint& entry : slices::further_entry_points(spec)) entries.push_back(entry);
  return entries;
}

LaunchPlan SkinnyStrategy::launch_plan(const KernelSpec& spec, const Problem& problem) const {
  return slices::launch_plan(spec, problem, kSkinnyPartialVector);
}

}  // namespace gemmtune::codegen::skinny_gemm
