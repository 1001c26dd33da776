#include "dispatch/estimated_lead.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "codegen/strategy.h"
#include "dispatch/product_kind.h"
#include "vendor/algorithm_names.h"

namespace gemmtune::dispatch {
namespace {

constexpr int64_t kMostRows = 128;
constexpr int64_t kMostRowsOfLargeVendorTiles = 256;
constexpr int64_t kVeryFewRows = 16;  // kernels for so many serve any fewer
// Factors of two of n and k, added up: as far as it was measured.
constexpr double kFarthestSizes = 3;
constexpr int64_t kRowBytes = 128;       // rows that begin elsewhere in a line take longer
constexpr size_t kVendorNeighbours = 3;  // that say what the vendor takes at the least

// What of a time stays as it is, whatever the sizes: launch, first loads, last results.
constexpr double kLeastFixedUs = 1;
constexpr double kMostFixedUs = 3;

// What slices of k cost beside others, to be added up: their times carry over less well.
constexpr double kMoreFixedOfSlicesUs = 1;
constexpr double kLongerOfSlices = 1.1;

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
bool is_lender(const Problem& other, const Problem& problem) {
  const Epilogue plain = {kNoBias, kNoActivation, problem.epilogue.scale};
  const int64_t m = problem.shape.m;
  return is_estimated(other) && same_kind(other, problem) &&
         same_row_alignments(other, problem, kRowBytes) &&
         (other.epilogue == problem.epilogue || other.epilogue == plain) && other.shape.m >= m &&
         other.shape.m <= std::max(2 * m, kVeryFewRows);
}

double factors_of_two(int64_t a, int64_t b) {
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

double bytes(const Problem& p) {
  return static_cast<double>(bytes_a(p) + bytes_b(p) + bytes_c(p));
}

// Blocks that an SM computes one after the other, by their depth.
double serial_depth(int64_t blocks, int64_t at_once, int64_t depth) {
  const int64_t waves = (blocks + at_once - 1) / at_once;
  return static_cast<double>(waves * depth);
}

double own_depth(const codegen::KernelSpec& spec, const Problem& problem, int sm_count) {
  const codegen::KernelWork work = spec.strategy->work(spec, problem);
  if (work.persistent_blocks > 0)
    return serial_depth(work.blocks, work.persistent_blocks, work.block_depth);
  const int64_t of_sm = std::max(1, spec.tile.min_blocks);
  return serial_depth(work.blocks, sm_count * of_sm, of_sm * work.block_depth);
}

// Whether a kernel has blocks that wait for others, or more than run at once where k is split.
bool is_unsteady(const codegen::KernelSpec& spec, const Problem& problem, int sm_count) {
  if (spec.tile.sharing_blocks > 0) return true;  // where ranges of k begin and end decides
  const int64_t at_once = int64_t{sm_count} * std::max(1, spec.tile.min_blocks);
  return spec.tile.slices > 1 && spec.strategy->work(spec, problem).blocks > at_once;
}

double vendor_depth(const vendor::AlgorithmTile& tile, const Shape& s, int sm_count) {
  const auto parts = [](int64_t extent, int64_t part) { return (extent + part - 1) / part; };
  const int64_t blocks = parts(s.m, tile.tile_m) * parts(s.n, tile.tile_n) * tile.slices;
  return serial_depth(blocks, sm_count, parts(s.k, tile.slices));
}

// By what a kernel took for `other`; nothing for one that may not run or could not win.
std::optional<double> most_own_us(const StoredKernel& stored, double us, const Problem& other,
                                  const Problem& problem, const Target& target) {
  const auto there = codegen::parse_spec(stored.strategy, stored.config, other, stored.arch);
  const auto here = codegen::parse_spec(stored.strategy, stored.config, problem, stored.arch);
  if (!there || !here || codegen::broken_rule(*here, target.limits) != nullptr) return std::nullopt;
  const int sms = target.limits.sm_count;
  if (is_unsteady(*here, problem, sms) || !here->strategy->worthwhile(*here, problem))
    return std::nullopt;
  const double factor = std::max(bytes(problem) / bytes(other),
                                 own_depth(*here, problem, sms) / own_depth(*there, other, sms));
  const bool has_slices = here->tile.slices > 1;
  const double most_fixed_us = kMostFixedUs + (has_slices ? kMoreFixedOfSlicesUs : 0);
  return scaled_us(us, factor, factor < 1 ? most_fixed_us : kLeastFixedUs) *
         (has_slices ? kLongerOfSlices : 1);
}

double scaled_vendor_us(const std::string& config, double us, const Problem& other,
                        const Problem& problem, const Target& target) {
  double factor = bytes(problem) / bytes(other);
  if (const auto tile = vendor::algorithm_tile(config)) {
    const int sms = target.limits.sm_count;
    factor = std::min(
        factor, vendor_depth(*tile, problem.shape, sms) / vendor_depth(*tile, other.shape, sms));
  }
  return scaled_us(us, factor, factor < 1 ? kLeastFixedUs : kMostFixedUs);
}

struct Lender {
  uint32_t number;
  double distance;
  std::optional<double> own_us;
  double vendor_us;
};

std::optional<Lender> lender_at(const Snapshot& snapshot, uint32_t number, const Problem& problem,
                                const Target& target) {
  const Problem& other = snapshot.problems[number];
  if (!is_lender(other, problem)) return std::nullopt;
  const double of_weights = factors_of_two(other.shape.n, problem.shape.n) +
                            factors_of_two(other.shape.k, problem.shape.k);
  const auto& [kernel, vendor] = snapshot.known[number];
  const auto lead = compared_lead(snapshot.known[number]);
  if (of_weights > kFarthestSizes || !lead) return std::nullopt;
  const std::string config = vendor ? snapshot.vendor_configs[vendor->index] : "";
  return Lender{number, of_weights + factors_of_two(other.shape.m, problem.shape.m),
                most_own_us(snapshot.kernels[kernel->index], lead->own_us, other, problem, target),
                scaled_vendor_us(config, lead->vendor_us, other, problem, target)};
}

}  // namespace

std::vector<EstimatedLead> estimated_leads(const Snapshot& snapshot, const Request& request,
                                           const Target& target) {
  if (!is_estimated(request.problem)) return {};
  std::vector<Lender> near;
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    if (const auto one = lender_at(snapshot, number, request.problem, target)) near.push_back(*one);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const Lender& a, const Lender& b) { return a.distance < b.distance; });
  double vendor_us = INFINITY;
  for (size_t i = 0; i < std::min(kVendorNeighbours, near.size()); ++i)
    vendor_us = std::min(vendor_us, near[i].vendor_us);
  std::vector<EstimatedLead> found;
  for (const Lender& one : near) {
    if (one.own_us) found.push_back({one.number, {*one.own_us, vendor_us}});
  }
  std::stable_sort(found.begin(), found.end(), [](const EstimatedLead& a, const EstimatedLead& b) {
    return a.lead.own_us < b.lead.own_us;
  });
  return found;
}

}  // namespace gemmtune::dispatch
