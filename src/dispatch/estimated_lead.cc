#include "dispatch/estimated_lead.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dispatch/power_limit.h"
#include "dispatch/product_kind.h"
#include "dispatch/scaled_times.h"

namespace gemmtune::dispatch {
namespace {

constexpr int64_t kMostRows = 128;
constexpr int64_t kMostRowsOfLargeVendorTiles = 512;
constexpr int64_t kVeryFewRows = 16;  // kernels for so many serve any fewer
// Factors of two of n and k, added up: as far as it was measured.
constexpr double kFarthestSizes = 3;
constexpr int64_t kRowBytes = 128;       // rows that begin elsewhere in a line take longer
constexpr size_t kVendorNeighbours = 3;  // that say what the vendor takes at the least

// For more rows of integers, too, own kernels are ahead of the vendor's.
int64_t most_rows(const Problem& p) {
  if (p.accumulator == DataType::i32) return std::numeric_limits<int64_t>::max();
  return has_large_vendor_tiles(p) ? kMostRowsOfLargeVendorTiles : kMostRows;
}

bool has_estimated_weights(const Problem& p) {
  if (p.type == DataType::f32) return p.math == MathMode::ieee || p.math == MathMode::tf32;
  return p.layout.b == Order::column_major;
}

bool is_estimated(const Problem& p) {
  return p.shape.m <= most_rows(p) && p.batch == 1 && has_estimated_weights(p) &&
         p.layout.a == Order::row_major && p.layout.c == Order::row_major;
}

// Whether results of `other` say something of `problem`. The vendor takes no less with a bias or an
// activation than without.
bool is_alike(const Problem& other, const Problem& problem) {
  const Epilogue plain = {kNoBias, kNoActivation, problem.epilogue.scale};
  return is_estimated(other) && same_kind(other, problem) &&
         same_row_alignments(other, problem, kRowBytes) &&
         (other.epilogue == problem.epilogue || other.epilogue == plain);
}

// Of the vendor's best algorithm for the problem `number`; nothing where it is not known.
std::optional<vendor::AlgorithmTile> tile_of(const Snapshot& snapshot, uint32_t number) {
  const auto& vendor = snapshot.known[number].vendor;
  if (!vendor) return std::nullopt;
  return vendor::algorithm_tile(snapshot.vendor_configs[vendor->index]);
}

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
  if (other.shape.m > std::max(2 * m, kVeryFewRows)) return std::nullopt;
  if (other.shape.m < m && (m <= kMostRowsReadOnce || 2 * other.shape.m < m)) return std::nullopt;
  const double of_weights = factors_of_two(other.shape.n, problem.shape.n) +
                            factors_of_two(other.shape.k, problem.shape.k);
  if (of_weights > kFarthestSizes) return std::nullopt;
  return Lender{
      number, of_weights + factors_of_two(other.shape.m, m),
      scaled_own_us(snapshot.kernel_of(number), lead.own_us, other, problem, target),
      scaled_vendor_us(vendor_tile, lead.vendor_us, other, problem, target.limits.sm_count)};
}

// What was measured somewhere that says something of a problem.
struct AlikeProblems {
  std::vector<Lender> lenders;
  VendorRates rates;
  bool have_such_weights = false;  // n and k
};

AlikeProblems problems_alike(const Snapshot& snapshot, const Problem& problem, const Target& target,
                             Measured where) {
  AlikeProblems alike;
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    const Problem& other = snapshot.problems[number];
    if (!is_alike(other, problem)) continue;
    const auto lead = compared_lead(snapshot.known[number]);
    if (!lead || !was_measured(snapshot.known[number].kernel->origin, where)) continue;
    alike.have_such_weights |= other.shape.n == problem.shape.n && other.shape.k == problem.shape.k;
    const auto vendor_tile = tile_of(snapshot, number);
    alike.rates.count(other, vendor_tile, lead->vendor_us, target.limits.sm_count);
    if (const auto lender = lender_at(snapshot, number, *lead, vendor_tile, problem, target))
      alike.lenders.push_back(*lender);
  }
  return alike;
}

// What the vendor takes at the least, by the nearest lenders and by how fast it is anywhere.
double least_of_vendor_us(AlikeProblems alike, const Problem& problem, int sm_count) {
  std::vector<Lender>& lenders = alike.lenders;
  std::stable_sort(lenders.begin(), lenders.end(),
                   [](const Lender& a, const Lender& b) { return a.distance < b.distance; });
  double near_us = INFINITY;
  for (size_t i = 0; i < std::min(kVendorNeighbours, lenders.size()); ++i)
    near_us = std::min(near_us, lenders[i].vendor_us);
  return std::max(near_us, alike.rates.least_us(problem, sm_count));
}

double least_lead(const AlikeProblems& alike, const StoredKernel& kernel, double own_us,
                  const Problem& problem, const Target& target) {
  if (alike.have_such_weights) return kLeadByEstimate;
  if (problem.accumulator == DataType::i32) {
    const auto tile = parse_tile(kernel.config);
    return tile && shares_k_out(*tile) ? kLeadByEstimate : kLeadByLooseEstimate;
  }
  if (may_be_at_power_limit(problem, own_us, target.limits)) return kLeadByEstimate;
  if (size_bytes(problem.type) == 2) return kLeadByLooseEstimate;
  const bool is_f32 = problem.type == DataType::f32 && problem.math == MathMode::ieee;
  return is_f32 ? kLeadByEstimateInF32 : kLeadByEstimate;
}

}  // namespace

std::vector<EstimatedLead> estimated_leads(const Snapshot& snapshot, const Request& request,
                                           const Target& target, Measured where) {
  const Problem& problem = request.problem;
  if (!is_estimated(problem)) return {};
  const AlikeProblems alike = problems_alike(snapshot, problem, target, where);
  const double vendor_us = least_of_vendor_us(alike, problem, target.limits.sm_count);
  std::vector<EstimatedLead> found;
  for (const Lender& lender : alike.lenders) {
    if (!lender.own_us) continue;
    const Lead lead = {*lender.own_us, vendor_us};
    found.push_back(
        {lender.number, lead,
         least_lead(alike, snapshot.kernel_of(lender.number), lead.own_us, problem, target)});
  }
  std::stable_sort(found.begin(), found.end(), [](const EstimatedLead& a, const EstimatedLead& b) {
    return a.lead.own_us < b.lead.own_us;
  });
  return found;
}

}  // namespace gemmtune::dispatch
