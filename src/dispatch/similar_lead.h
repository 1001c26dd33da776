#pragma once

#include <cstdint>
#include <vector>

#include "core/problem.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// How many times as fast as the vendor's fastest algorithm a kernel has to be for it to be lent to
// a problem of other sizes (docs/decisions/0024-similar-problems.md).
inline constexpr double kLeadAtSimilar = 1.8;

// A measured problem of the same kind as one that was not measured.
struct SimilarLead {
  uint32_t number = 0;  // in the snapshot
  double distance = 0;  // by how many factors of two m, n, k and batch differ, added up
  Lead lead;            // scaled by flops() to the problem that was not measured
};

// Problems that differ from `problem` in sizes, by no more than three factors of two, and at most
// in types that are as wide; the nearest first. Their rows and batch entries begin on multiples of
// as many bytes (up to 16), and they were measured with a kernel that is not stale and the vendor's
// algorithms, on this device or another of its model. `problem` is comparable().
std::vector<SimilarLead> similar_leads(const Snapshot& snapshot, const Problem& problem);

}  // namespace gemmtune::dispatch
