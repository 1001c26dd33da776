#include "dispatch/variant_lead.h"

#include <algorithm>
#include <utility>

#include "dispatch/product_kind.h"

namespace gemmtune::dispatch {
namespace {

// Rows that begin elsewhere in a line of the cache take a kernel more requests than those it was
// chosen with: up to 1.44 times as long.
constexpr int64_t kLineBytes = 128;

// Of the parts in which problems differ: what carries over best counts least.
constexpr int kOtherLeadingDimensions = 1;
constexpr int kOtherScale = 1;
constexpr int kOtherBias = 2;
constexpr int kOtherActivation = 3;
constexpr int kOtherTypes = 6;

bool same_sizes(const Problem& a, const Problem& b) {
  return a.shape == b.shape && a.batch == b.batch;
}

bool same_leading_dimensions(const Problem& a, const Problem& b) {
  return a.lda == b.lda && a.ldb == b.ldb && a.ldc == b.ldc && a.stride_a == b.stride_a &&
         a.stride_b == b.stride_b && a.stride_c == b.stride_c;
}

// cuBLASLt has few kernels that scale rows or blocks, whose times say nothing of its others
// (decisions 0031 and 0034).
Scale scale_of_lines(const Problem& problem) {
  const Scale scale = problem.epilogue.scale;
  return scale == kScalePerTensor ? kNoScale : scale;
}

int differences(const Problem& a, const Problem& b) {
  const bool same_types = a.type == b.type && result_type(a) == result_type(b);
  return (same_types ? 0 : kOtherTypes) + (a.epilogue.bias == b.epilogue.bias ? 0 : kOtherBias) +
         (a.epilogue.activation == b.epilogue.activation ? 0 : kOtherActivation) +
         (a.epilogue.scale == b.epilogue.scale ? 0 : kOtherScale) +
         (same_leading_dimensions(a, b) ? 0 : kOtherLeadingDimensions);
}

}  // namespace

std::vector<VariantLead> variant_leads(const Snapshot& snapshot, const Problem& problem) {
  std::vector<VariantLead> found;
  for (const uint32_t number : snapshot.problems.of_columns(problem.shape.n, problem.shape.k)) {
    const Problem& other = snapshot.problems[number];
    if (!same_sizes(other, problem) || !same_kind(other, problem) || other == problem ||
        !same_row_alignments(other, problem, kLineBytes) ||
        scale_of_lines(other) != scale_of_lines(problem)) {
      continue;
    }
    if (const auto lead = compared_lead(snapshot.known[number]))
      found.push_back({number, differences(other, problem), *lead});
  }
  std::sort(found.begin(), found.end(), [](const VariantLead& a, const VariantLead& b) {
    return std::pair(a.differences, a.number) < std::pair(b.differences, b.number);
  });
  return found;
}

std::vector<Problem> usual_variants(const Problem& problem) {
  std::vector<Problem> found;
  const auto add_with = [&](Problem variant) {
    if (variant != problem && std::find(found.begin(), found.end(), variant) == found.end())
      found.push_back(variant);
  };
  const auto add_epilogues = [&](Problem variant) {
    add_with(variant);
    variant.epilogue.activation = kNoActivation;
    add_with(variant);
    variant.epilogue.bias = problem.epilogue.bias == kNoBias ? kBiasPerColumn : kNoBias;
    add_with(variant);
  };
  add_epilogues(problem);
  Problem other = problem;
  other.type = other_type_as_wide(problem.type);
  add_epilogues(other);
  return found;
}

}  // namespace gemmtune::dispatch
