#include "dispatch/scaled_times.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/strategy.h"
#include "codegen/tiling.h"
#include "core/roofline.h"
#include "dispatch/product_kind.h"

namespace gemmtune::dispatch {
namespace {

// What of a time stays as it is, whatever the sizes: launch, first loads, last results.
constexpr double kLeastFixedUs = 1;
constexpr double kMostFixedUs = 3;

// What kernels that share the k of a tile out cost beside others, and how much longer they take
// where few rows read weights: of few columns not.
constexpr double kMoreFixedOfSharesUs = 1;
constexpr double kLongerOfShares = 1.2;

// What a wave of blocks costs that a kernel has more or less than where it was measured, if it is
// not as deep as there: blocks start and store while nothing is multiplied, or no longer overlap.
constexpr double kOtherWaveUs = 2;

// Of a card's SMs, those that clusters of three or four blocks reach, one block on an SM, and of
// more. An H200 runs 30 of four, as if its groups of SMs had 14, 16 and 18: 22 of five fit those.
constexpr double kReachedByLargeClusters = 0.91;
constexpr double kReachedByLargestClusters = 0.83;

// The time for `factor` times the work if so much of it stays as it is.
double scaled_us(double us, double factor, double fixed_us) {
  const double fixed = std::min(us, fixed_us);
  return fixed + (us - fixed) * factor;
}

int64_t parts(int64_t extent, int64_t part) {
  return (extent + part - 1) / part;
}

// What an SM computes one after the other.
struct SerialWork {
  int64_t waves;  // of blocks
  int64_t depth;  // values of k
};

SerialWork serial_work(int64_t blocks, int64_t at_once, int64_t depth) {
  const int64_t waves = parts(blocks, at_once);
  return {waves, waves * depth};
}

int64_t blocks_of_sm(const TileConfig& tile) {
  return std::max(1, tile.min_blocks);
}

int64_t reached_sms(const TileConfig& tile, int sm_count) {
  const int blocks = codegen::tiling::blocks_of_cluster(tile);
  if (blocks <= 2) return sm_count;
  return static_cast<int64_t>(sm_count *
                              (blocks <= 4 ? kReachedByLargeClusters : kReachedByLargestClusters));
}

// Waves that are not as deep as there: what others cost is in the time there.
int64_t other_waves(const SerialWork& here, const SerialWork& there) {
  const bool as_deep = here.depth * there.waves == there.depth * here.waves;
  return as_deep ? 0 : std::abs(here.waves - there.waves);
}

// Blocks of a persistent grid load their next tile while they store one: they are one wave.
SerialWork own_work(const TileConfig& tile, const codegen::KernelWork& work, int sm_count) {
  const int64_t sms = reached_sms(tile, sm_count);
  if (work.persistent_blocks > 0)
    return {
        1, serial_work(work.blocks, std::min(sms, work.persistent_blocks), work.block_depth).depth};
  const int64_t of_sm = blocks_of_sm(tile);
  return serial_work(work.blocks, sms * of_sm, of_sm * work.block_depth);
}

// Tiles in a column of C read the same weights, which come from memory once, and tiles in a row
// the same lines of A: fewer of those take no longer. What a batch's entries share is in L2.
bool shares_operand_alike(const TileConfig& tile, const Problem& other, const Problem& problem) {
  if (problem.batch > 1) return true;
  if (has_few_columns(problem))
    return parts(other.shape.n, tile.tile_n) >= parts(problem.shape.n, tile.tile_n);
  if (std::min(other.shape.m, problem.shape.m) > kMostReadOnce) return true;
  return parts(other.shape.m, tile.tile_m) == parts(problem.shape.m, tile.tile_m);
}

// Whether slices of more tiles than there have to be added up where k is long, as it is where A has
// its rows along m.
bool adds_up_more(const TileConfig& tile, const Problem& other, const Problem& problem) {
  return tile.slices > 1 && problem.layout.a == Order::column_major &&
         codegen::tiling::tile_blocks(tile, problem) > codegen::tiling::tile_blocks(tile, other);
}

// Whether a kernel has blocks that wait for others, or more than run at once where k is split.
bool is_unsteady(const TileConfig& tile, const codegen::KernelWork& work, int sm_count) {
  if (tile.sharing_blocks > 0) return true;  // where ranges of k begin and end decides
  return tile.slices > 1 && work.blocks > reached_sms(tile, sm_count) * blocks_of_sm(tile);
}

}  // namespace

bool shares_k_out(const TileConfig& tile) {
  return tile.slices > 1 || tile.groups > 1 || tile.warps > 1;
}

std::optional<double> scaled_own_us(const StoredKernel& kernel, double us, const Problem& other,
                                    const Problem& problem, const Target& target) {
  const auto here = codegen::parse_spec(kernel.strategy, kernel.config, problem, kernel.arch);
  if (!here || codegen::broken_rule(*here, target.limits) != nullptr) return std::nullopt;
  const codegen::Strategy& strategy = *here->strategy;
  const TileConfig& tile = here->tile;
  const codegen::KernelSpec there = codegen::spec_for(strategy, tile, other, kernel.arch);
  const int sms = target.limits.sm_count;
  const codegen::KernelWork work = strategy.work(*here, problem);
  if (is_unsteady(tile, work, sms) || !shares_operand_alike(tile, other, problem) ||
      adds_up_more(tile, other, problem) || !strategy.worthwhile(*here, problem))
    return std::nullopt;
  const SerialWork of_sm = own_work(tile, work, sms);
  const SerialWork of_sm_there = own_work(tile, strategy.work(there, other), sms);
  const double factor = std::max(least_bytes(problem) / least_bytes(other),
                                 static_cast<double>(of_sm.depth) / of_sm_there.depth);
  const bool shares = shares_k_out(tile);
  const double most_fixed_us = kMostFixedUs + (shares ? kMoreFixedOfSharesUs : 0);
  const double scaled = scaled_us(us, factor, factor < 1 ? most_fixed_us : kLeastFixedUs);
  const double longer = shares && !has_few_columns(problem) ? kLongerOfShares : 1;
  return scaled * longer + kOtherWaveUs * static_cast<double>(other_waves(of_sm, of_sm_there));
}

}  // namespace gemmtune::dispatch
