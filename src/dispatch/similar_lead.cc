#include "dispatch/similar_lead.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace gemmtune::dispatch {
namespace {

constexpr double kFarthest = 3;  // factors of two: as far as it was measured

bool same_kind(const Problem& a, const Problem& b) {
  return size_bytes(a.type) == size_bytes(b.type) && a.accumulator == b.accumulator &&
         size_bytes(result_type(a)) == size_bytes(result_type(b)) && a.math == b.math &&
         a.layout == b.layout && a.align_bytes == b.align_bytes && a.epilogue == b.epilogue &&
         (a.batch == 1) == (b.batch == 1);
}

// Whether multiples of x elements are multiples of as many bytes as those of y, up to `widest`.
bool same_alignment(int64_t x, int64_t y, DataType type, int64_t widest) {
  const auto alignment = [&](int64_t elements) {
    const int64_t bytes = elements * size_bytes(type);
    return std::min(bytes & -bytes, widest);
  };
  return x == y || (x != 0 && y != 0 && alignment(x) == alignment(y));
}

double factors_of_two(const Problem& a, const Problem& b) {
  const auto part = [](int64_t x, int64_t y) {
    return std::abs(std::log2(static_cast<double>(x) / static_cast<double>(y)));
  };
  return part(a.shape.m, b.shape.m) + part(a.shape.n, b.shape.n) + part(a.shape.k, b.shape.k) +
         part(a.batch, b.batch);
}

// What the measured problem `number` says of `problem`; nothing if it is none of those.
std::optional<SimilarLead> similar_lead(const Snapshot& snapshot, const Problem& problem,
                                        uint32_t number) {
  const Problem& other = snapshot.problems[number];
  const Known& known = snapshot.known[number];
  if (!is_compared(known) || !same_kind(other, problem) ||
      !same_row_alignments(other, problem, kWidestAccessBytes))
    return std::nullopt;
  const double distance = factors_of_two(other, problem);
  if (distance > kFarthest) return std::nullopt;
  const double scale = flops(problem) / flops(other);
  return SimilarLead{number, distance, known.kernel->rank_us * scale,
                     known.vendor->time_us * scale};
}

}  // namespace

bool same_row_alignments(const Problem& a, const Problem& b, int64_t widest) {
  const auto same = [&](int64_t Problem::*elements, DataType type) {
    return same_alignment(a.*elements, b.*elements, type, widest);
  };
  const DataType c = result_type(a);
  return same(&Problem::lda, a.type) && same(&Problem::ldb, a.type) && same(&Problem::ldc, c) &&
         same(&Problem::stride_a, a.type) && same(&Problem::stride_b, a.type) &&
         same(&Problem::stride_c, c);
}

bool is_compared(const Known& known) {
  return known.kernel && known.vendor && is_direct(known.kernel->origin) &&
         is_direct(known.vendor->origin) && !known.kernel->stale;
}

std::vector<SimilarLead> similar_leads(const Snapshot& snapshot, const Problem& problem) {
  std::vector<SimilarLead> found;
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    if (auto lead = similar_lead(snapshot, problem, number)) found.push_back(*lead);
  }
  const auto order = [&](const SimilarLead& lead) {
    const bool other_type = snapshot.problems[lead.number].type != problem.type;
    return std::tuple(lead.distance, other_type, lead.number);
  };
  std::sort(found.begin(), found.end(),
            [&](const SimilarLead& a, const SimilarLead& b) { return order(a) < order(b); });
  return found;
}

}  // namespace gemmtune::dispatch
