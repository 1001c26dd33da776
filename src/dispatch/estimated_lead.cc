#include "dispatch/estimated_lead.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "dispatch/product_kind.h"
#include "dispatch/scaled_times.h"
#include "dispatch/vendor_neighbours.h"

namespace gemmtune::dispatch {
namespace {

constexpr int64_t kMostRows = 512;
constexpr int64_t kVeryFew = 16;  // rows or columns: kernels for so many serve any fewer
// Factors of two of n, or m, and k, or of a batch's m, n and k, added up, and of the number of its
// entries: as far as it was measured.
constexpr double kFarthestSizes = 3;
constexpr double kFarthestBatch = 2;
constexpr int64_t kRowBytes = 128;     // rows that begin elsewhere in a line take longer
constexpr int64_t kNarrowLayer = 512;  // outputs and inputs, as far as it was measured

bool is_of_integers(const Problem& p) {
  return p.accumulator == DataType::i32;
}

// For more rows of integers and of f32, too, own kernels are ahead of the vendor's.
int64_t most_rows(const Problem& p) {
  if (is_of_integers(p) || p.type == DataType::f32) return std::numeric_limits<int64_t>::max();
  return is_of_16_bits(p) || has_large_vendor_tiles(p) ? kMostRows : kFewRows;
}

bool is_along_k(const Layout& layout) {
  return layout.a == Order::row_major && layout.b == Order::column_major;
}

// Whether k is a batch's rows, as in the gradients of a narrow layer's weights.
bool sums_over_rows(const Problem& p) {
  return p.layout.a == Order::column_major && p.layout.b == Order::row_major &&
         std::max(p.shape.m, p.shape.n) <= kNarrowLayer && is_plain_f32_or_16_bits(p);
}

// The gradients of a narrow layer: of its weights, or in f32 of its activations.
bool is_of_narrow_gradients(const Problem& p) {
  if (is_along_k(p.layout)) return false;
  return sums_over_rows(p) || (is_plain_f32(p) && std::max(p.shape.n, p.shape.k) <= kNarrowLayer);
}

// Weights along n are estimated in f32 alone, as far as it was measured.
bool has_estimated_orders(const Problem& p) {
  const bool in_f32 = is_plain_f32(p) || p.math == MathMode::tf32;
  if (p.layout.c != Order::row_major || (p.type == DataType::f32 && !in_f32)) return false;
  return is_along_k(p.layout) || sums_over_rows(p) || (in_f32 && p.layout.a == Order::row_major);
}

// A batch as attention is computed by: scores, values by them, and their gradients.
bool is_estimated_batch(const Problem& p) {
  const bool is_by_columns = p.layout.a == Order::column_major && p.layout.b == Order::column_major;
  return p.layout.c == Order::row_major && !is_by_columns && is_plain_f32_or_16_bits(p);
}

bool is_estimated(const Problem& p) {
  if (p.batch > 1) return is_estimated_batch(p);
  return (p.shape.m <= most_rows(p) || has_few_columns(p)) && has_estimated_orders(p);
}

// The bytes that rows of A and B have to begin on multiples of as there.
int64_t widest_alignment(const Problem& p) {
  const bool within_lines =
      p.batch > 1 || is_of_narrow_gradients(p) || (is_plain_f32(p) && has_few_columns(p));
  return within_lines ? kWidestAccessBytes : kRowBytes;
}

// Whether rows of C of two batches begin on multiples of as many bytes: in lines where C is large.
bool stores_batch_alike(const Problem& other, const Problem& problem) {
  const bool is_small = bytes_c(problem) < bytes_a(problem) + bytes_b(problem);
  const int64_t widest = is_small ? kWidestAccessBytes : kRowBytes;
  return alignment_of_c_rows(other, widest) == alignment_of_c_rows(problem, widest);
}

// The same without a batch: few results take no less to store where rows are less aligned.
bool stores_alike(const Problem& other, const Problem& problem) {
  if (problem.batch > 1) return stores_batch_alike(other, problem);
  const bool are_few = has_few_columns(problem) || sums_over_rows(problem);
  const int64_t widest = are_few ? kWidestAccessBytes : kRowBytes;
  const int64_t there = alignment_of_c_rows(other, widest);
  const int64_t here = alignment_of_c_rows(problem, widest);
  return are_few ? there >= here : there == here;
}

// Whether results of `other` say something of `problem`. The vendor takes no less with a bias or an
// activation than without.
bool is_alike(const Problem& other, const Problem& problem) {
  const Epilogue plain = {kNoBias, kNoActivation, problem.epilogue.scale};
  return same_kind(other, problem) && (other.batch > 1) == (problem.batch > 1) &&
         is_estimated(other) &&
         same_operand_alignments(other, problem, widest_alignment(problem)) &&
         stores_alike(other, problem) &&
         (other.epilogue == problem.epilogue || other.epilogue == plain);
}

// Whether a batch may be lent the kernel of another one, by their sizes: no operand is read from
// memory again for more rows or columns.
bool is_near_batch(const Problem& other, const Problem& problem) {
  const Shape& there = other.shape;
  const Shape& here = problem.shape;
  return factors_of_two(other.batch, problem.batch) <= kFarthestBatch &&
         factors_of_two(there.m, here.m) + factors_of_two(there.n, here.n) +
                 factors_of_two(there.k, here.k) <=
             kFarthestSizes;
}

// The same without a batch.
bool is_near(const Problem& other, const Problem& problem) {
  if (problem.batch > 1) return is_near_batch(other, problem);
  const auto [few, many] = sides(problem);
  const auto [few_there, many_there] = sides_as(problem, other.shape);
  if (few_there > std::max(2 * few, kVeryFew)) return false;
  if (few_there < few && (few <= kMostReadOnce || 2 * few_there < few)) return false;
  return factors_of_two(many_there, many) + factors_of_two(other.shape.k, problem.shape.k) <=
         kFarthestSizes;
}

double least_lead(const StoredKernel& kernel, const Problem& problem) {
  if (problem.batch > 1) return kLeadByEstimate;
  if (is_of_narrow_gradients(problem))
    return is_plain_f32(problem) ? kLeadByEstimateInF32 : kLeadByEstimate;
  if (has_few_columns(problem)) return kLeadByEstimate;
  if (is_of_integers(problem)) {
    const auto tile = parse_tile(kernel.config);
    return tile && shares_k_out(*tile) ? kLeadByEstimateOfShares : kLeadByEstimate;
  }
  if (problem.shape.m > kFewRows) return kLeadByEstimate;
  if (is_plain_f32(problem)) return kLeadByEstimateInF32;
  return is_of_16_bits(problem) ? kLeadByEstimateIn16Bits : kLeadByEstimate;
}

}  // namespace

std::vector<EstimatedLead> estimated_leads(const Snapshot& snapshot, const Request& request,
                                           const Target& target, Measured where) {
  const Problem& problem = request.problem;
  if (!is_estimated(problem)) return {};
  VendorNeighbours neighbours(problem, target.limits);
  std::vector<EstimatedLead> found;
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    const Problem& other = snapshot.problems[number];
    if (!is_alike(other, problem)) continue;
    const auto lead = compared_lead(snapshot.known[number]);
    if (!lead || !was_measured(snapshot.known[number].kernel->origin, where)) continue;
    neighbours.count(other, lead->vendor_us);
    if (!is_near(other, problem)) continue;
    const StoredKernel& kernel = snapshot.kernel_of(number);
    if (const auto own_us = scaled_own_us(kernel, lead->own_us, other, problem, target))
      found.push_back({number, {*own_us, 0}, least_lead(kernel, problem)});
  }
  const auto vendor_us = neighbours.expected_us();
  if (!vendor_us) return {};
  for (EstimatedLead& lender : found) lender.lead.vendor_us = *vendor_us;
  std::stable_sort(found.begin(), found.end(), [](const EstimatedLead& a, const EstimatedLead& b) {
    return a.lead.own_us < b.lead.own_us;
  });
  return found;
}

}  // namespace gemmtune::dispatch
