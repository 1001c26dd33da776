#include "dispatch/estimated_lead.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "codegen/strategy.h"
#include "dispatch/power_limit.h"
#include "dispatch/product_kind.h"
#include "parts/shared/wgmma_tiles.h"
#include "vendor/algorithm_names.h"

namespace gemmtune::dispatch {
namespace {

constexpr int64_t kMostRows = 128;
constexpr int64_t kMostRowsOfLargeVendorTiles = 512;
constexpr int64_t kVeryFewRows = 16;  // kernels for so many serve any fewer
// Factors of two of n and k, added up: as far as it was measured.
constexpr double kFarthestSizes = 3;
constexpr int64_t kRowBytes = 128;       // rows that begin elsewhere in a line take longer
constexpr size_t kVendorNeighbours = 3;  // that say what the vendor takes at the least
constexpr int kFewestForRates = 16;      // problems that say how fast it is anywhere

// What of a time stays as it is, whatever the sizes: launch, first loads, last results.
constexpr double kLeastFixedUs = 1;
constexpr double kMostFixedUs = 3;

// What kernels that share the k of a tile out cost beside others: their times carry over less well.
constexpr double kMoreFixedOfSharesUs = 1;
constexpr double kLongerOfShares = 1.2;

// What a wave of blocks costs that a kernel has more or less than where it was measured: blocks
// start and store while nothing is multiplied, or no longer overlap.
constexpr double kOtherWaveUs = 2;

// Of a card's SMs, those that clusters of more than two blocks reach, one block on an SM: 30 of
// four on an H200.
constexpr double kReachedByLargeClusters = 0.91;

// The time for `factor` times the work if so much of it stays as it is.
double scaled_us(double us, double factor, double fixed_us) {
  const double fixed = std::min(us, fixed_us);
  return fixed + (us - fixed) * factor;
}

bool is_estimated(const Problem& p) {
  const int64_t most = has_large_vendor_tiles(p) ? kMostRowsOfLargeVendorTiles : kMostRows;
  return p.shape.m <= most && p.batch == 1 && size_bytes(p.type) <= 2 &&
         p.layout.a == Order::row_major && p.layout.b == Order::column_major &&
         p.layout.c == Order::row_major;
}

// Whether results of `other` say something of `problem`. The vendor takes no less with a bias or an
// activation than without.
bool is_alike(const Problem& other, const Problem& problem) {
  const Epilogue plain = {kNoBias, kNoActivation, problem.epilogue.scale};
  return is_estimated(other) && same_kind(other, problem) &&
         same_row_alignments(other, problem, kRowBytes) &&
         (other.epilogue == problem.epilogue || other.epilogue == plain);
}

double bytes(const Problem& p) {
  return static_cast<double>(bytes_of_matrices(p));
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
  if (cluster_blocks(tile) <= 2) return sm_count;
  return static_cast<int64_t>(sm_count * kReachedByLargeClusters);
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

bool shares_k_out(const TileConfig& tile) {
  return tile.slices > 1 || tile.groups > 1 || tile.warps > 1;
}

// Tiles in a column of C read the same weights, which come from memory once.
bool shares_weights_alike(const TileConfig& tile, const Shape& other, const Shape& shape) {
  return parts(other.m, tile.tile_m) == parts(shape.m, tile.tile_m);
}

// Whether a kernel has blocks that wait for others, or more than run at once where k is split.
bool is_unsteady(const TileConfig& tile, const codegen::KernelWork& work, int sm_count) {
  if (tile.sharing_blocks > 0) return true;  // where ranges of k begin and end decides
  return tile.slices > 1 && work.blocks > sm_count * blocks_of_sm(tile);
}

double vendor_depth(const vendor::AlgorithmTile& tile, const Shape& s, int sm_count) {
  const int64_t blocks = parts(s.m, tile.tile_m) * parts(s.n, tile.tile_n) * tile.slices;
  return static_cast<double>(serial_work(blocks, sm_count, parts(s.k, tile.slices)).depth);
}

// By what a kernel took for `other`; nothing for one that may not run or could not win.
std::optional<double> most_own_us(const StoredKernel& stored, double us, const Problem& other,
                                  const Problem& problem, const Target& target) {
  const auto there = codegen::parse_spec(stored.strategy, stored.config, other, stored.arch);
  const auto here = codegen::parse_spec(stored.strategy, stored.config, problem, stored.arch);
  if (!there || !here || codegen::broken_rule(*here, target.limits) != nullptr) return std::nullopt;
  const codegen::Strategy& strategy = *here->strategy;
  const TileConfig& tile = here->tile;
  const int sms = target.limits.sm_count;
  const codegen::KernelWork work = strategy.work(*here, problem);
  if (is_unsteady(tile, work, sms) || !shares_weights_alike(tile, other.shape, problem.shape) ||
      !strategy.worthwhile(*here, problem))
    return std::nullopt;
  const SerialWork of_sm = own_work(tile, work, sms);
  const SerialWork of_sm_there = own_work(tile, strategy.work(*there, other), sms);
  const double factor =
      std::max(bytes(problem) / bytes(other), static_cast<double>(of_sm.depth) / of_sm_there.depth);
  const bool shares = shares_k_out(tile);
  const double most_fixed_us = kMostFixedUs + (shares ? kMoreFixedOfSharesUs : 0);
  const double scaled = scaled_us(us, factor, factor < 1 ? most_fixed_us : kLeastFixedUs);
  return scaled * (shares ? kLongerOfShares : 1) +
         kOtherWaveUs * static_cast<double>(std::abs(of_sm.waves - of_sm_there.waves));
}

// Of the vendor's best algorithm for the problem `number`; nothing where it is not known.
std::optional<vendor::AlgorithmTile> tile_of(const Snapshot& snapshot, uint32_t number) {
  const auto& vendor = snapshot.known[number].vendor;
  if (!vendor) return std::nullopt;
  return vendor::algorithm_tile(snapshot.vendor_configs[vendor->index]);
}

// By what it took for `other` with such a tile.
double scaled_vendor_us(const std::optional<vendor::AlgorithmTile>& tile, double us,
                        const Problem& other, const Problem& problem, int sm_count) {
  double factor = bytes(problem) / bytes(other);
  if (tile) {
    factor = std::min(factor, vendor_depth(*tile, problem.shape, sm_count) /
                                  vendor_depth(*tile, other.shape, sm_count));
  }
  return scaled_us(us, factor, factor < 1 ? kLeastFixedUs : kMostFixedUs);
}

// How fast the vendor was at most for any problem like one, its fixed time apart: by bytes, and
// where it has but one tile, and shares no k out, by what an SM computes.
class VendorRates {
 public:
  void count(const Problem& problem, const std::optional<vendor::AlgorithmTile>& tile, double us,
             int sm_count) {
    const double moving_us = us - kMostFixedUs;
    if (moving_us < kMostFixedUs) return;  // the rest is too little to tell
    ++count_;
    us_per_byte_ = std::min(us_per_byte_, moving_us / bytes(problem));
    has_one_tile_ = has_one_tile_ && has_large_vendor_tiles(problem) && tile && tile->slices == 1;
    if (!has_one_tile_) return;
    us_per_depth_ =
        std::min(us_per_depth_, moving_us / vendor_depth(*tile, problem.shape, sm_count));
    tile_ = tile;
  }

  // The least that it takes for a problem; 0 where too few were counted.
  double least_us(const Problem& problem, int sm_count) const {
    if (count_ < kFewestForRates) return 0;
    double moving_us = us_per_byte_ * bytes(problem);
    if (has_one_tile_)
      moving_us =
          std::max(moving_us, us_per_depth_ * vendor_depth(*tile_, problem.shape, sm_count));
    return kMostFixedUs + moving_us;
  }

 private:
  int count_ = 0;
  bool has_one_tile_ = true;
  double us_per_byte_ = INFINITY;
  double us_per_depth_ = INFINITY;
  std::optional<vendor::AlgorithmTile> tile_;
};

struct Lender {
  uint32_t number;
  double distance;
  std::optional<double> own_us;
  double vendor_us;
};

// What the problem `number`, which is alike, lends, if it is near.
std::optional<Lender> lender_at(const Snapshot& snapshot, uint32_t number, const Lead& lead,
                                const std::optional<vendor::AlgorithmTile>& vendor_tile,
                                const Problem& problem, const Target& target) {
  const Problem& other = snapshot.problems[number];
  const int64_t m = problem.shape.m;
  if (other.shape.m < m || other.shape.m > std::max(2 * m, kVeryFewRows)) return std::nullopt;
  const double of_weights = factors_of_two(other.shape.n, problem.shape.n) +
                            factors_of_two(other.shape.k, problem.shape.k);
  if (of_weights > kFarthestSizes) return std::nullopt;
  const StoredKernel& stored = snapshot.kernels[snapshot.known[number].kernel->index];
  return Lender{
      number, of_weights + factors_of_two(other.shape.m, m),
      most_own_us(stored, lead.own_us, other, problem, target),
      scaled_vendor_us(vendor_tile, lead.vendor_us, other, problem, target.limits.sm_count)};
}

// What the vendor takes at the least, by the nearest lenders and by how fast it is anywhere.
double least_of_vendor_us(std::vector<Lender> lenders, const VendorRates& rates,
                          const Problem& problem, int sm_count) {
  std::stable_sort(lenders.begin(), lenders.end(),
                   [](const Lender& a, const Lender& b) { return a.distance < b.distance; });
  double near_us = INFINITY;
  for (size_t i = 0; i < std::min(kVendorNeighbours, lenders.size()); ++i)
    near_us = std::min(near_us, lenders[i].vendor_us);
  return std::max(near_us, rates.least_us(problem, sm_count));
}

}  // namespace

std::vector<EstimatedLead> estimated_leads(const Snapshot& snapshot, const Request& request,
                                           const Target& target) {
  const Problem& problem = request.problem;
  if (!is_estimated(problem)) return {};
  const int sms = target.limits.sm_count;
  std::vector<Lender> lenders;
  VendorRates rates;
  bool has_such_weights = false;
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    const Problem& other = snapshot.problems[number];
    if (!is_alike(other, problem)) continue;
    const auto lead = compared_lead(snapshot.known[number]);
    if (!lead) continue;
    has_such_weights |= other.shape.n == problem.shape.n && other.shape.k == problem.shape.k;
    const auto vendor_tile = tile_of(snapshot, number);
    rates.count(other, vendor_tile, lead->vendor_us, sms);
    if (const auto lender = lender_at(snapshot, number, *lead, vendor_tile, problem, target))
      lenders.push_back(*lender);
  }
  const double vendor_us = least_of_vendor_us(lenders, rates, problem, sms);
  std::vector<EstimatedLead> found;
  for (const Lender& lender : lenders) {
    if (!lender.own_us) continue;
    const bool is_loose = size_bytes(problem.type) == 2 && !has_such_weights &&
                          !may_be_at_power_limit(problem, *lender.own_us, target.limits);
    found.push_back({lender.number,
                     {*lender.own_us, vendor_us},
                     is_loose ? kLeadByEstimateIn16Bits : kLeadByEstimate});
  }
  std::stable_sort(found.begin(), found.end(), [](const EstimatedLead& a, const EstimatedLead& b) {
    return a.lead.own_us < b.lead.own_us;
  });
  return found;
}

}  // namespace gemmtune::dispatch
