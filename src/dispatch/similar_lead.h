#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/problem.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// How many times as fast as the vendor's fastest algorithm a kernel has to be for it to be lent to
// a problem of other sizes (docs/decisions/0024-similar-problems.md).
inline constexpr double kLeadAtSimilar = 1.8;

// A measured problem of the same kind as one that was not measured.
struct SimilarLead {
  uint32_t number = 0;   // in the snapshot
  double distance = 0;   // by how many factors of two m, n, k and batch differ, added up
  double own_us = 0;     // what its kernel and the vendor take per product, times the products of
  double vendor_us = 0;  // the problem that was not measured
};

// What the measured problem `number` says of `problem`. Nothing unless it differs in sizes only, by
// no more than three factors of two, its rows and batch entries begin on multiples of as many bytes
// (up to 16), and it was measured with a kernel that is not stale and the vendor's algorithms, on
// this device or another of its model.
std::optional<SimilarLead> similar_lead(const Snapshot& snapshot, const Problem& problem,
                                        uint32_t number);

// All of them, the nearest first. `problem` is comparable().
std::vector<SimilarLead> similar_leads(const Snapshot& snapshot, const Problem& problem);

}  // namespace gemmtune::dispatch
