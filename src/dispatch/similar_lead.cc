#include "dispatch/similar_lead.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "dispatch/product_kind.h"

namespace gemmtune::dispatch {
namespace {

constexpr double kFarthest = 3;  // factors of two: as far as it was measured

double size_distance(const Problem& a, const Problem& b) {
  return factors_of_two(a.shape.m, b.shape.m) + factors_of_two(a.shape.n, b.shape.n) +
         factors_of_two(a.shape.k, b.shape.k) + factors_of_two(a.batch, b.batch);
}

// Kernels for few rows read their weights again for more, and compute for longer; those for few
// columns A.
bool serves_sides(const Problem& other, const Problem& problem) {
  return sides_as(problem, other.shape).few >= std::min(sides(problem).few, kFewRows);
}

// What the measured problem `number` says of `problem`; nothing if it is none of those.
std::optional<SimilarLead> similar_lead(const Snapshot& snapshot, const Problem& problem,
                                        uint32_t number) {
  const Problem& other = snapshot.problems[number];
  if (!same_kind(other, problem) || other.epilogue != problem.epilogue ||
      (other.batch == 1) != (problem.batch == 1) ||
      !same_row_alignments(other, problem, kWidestAccessBytes)) {
    return std::nullopt;
  }
  const double distance = size_distance(other, problem);
  if (distance > kFarthest || !serves_sides(other, problem)) return std::nullopt;
  const auto lead = compared_lead(snapshot.known[number]);
  if (!lead) return std::nullopt;
  const double scale = flops(problem) / flops(other);
  return SimilarLead{number, distance, {lead->own_us * scale, lead->vendor_us * scale}};
}

}  // namespace

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
