#pragma once

#include <cstdint>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/request.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// How many times as fast as the vendor a kernel has to be by estimates for it to be lent
// (docs/decisions/0037-nearest-problems.md). Own kernels for few rows in f32 and in 16 bits, and in
// f32 for gradients of narrow layers, mostly take less than is estimated; for integers those that
// share the k of a tile out take more.
inline constexpr double kLeadByEstimate = 1.03;
inline constexpr double kLeadByEstimateIn16Bits = 0.98;
inline constexpr double kLeadByEstimateInF32 = 0.88;
inline constexpr double kLeadByEstimateOfShares = 1.06;

// What a kernel that won another problem should take for one that was not measured.
struct EstimatedLead {
  uint32_t number = 0;    // of the problem that it won, in the snapshot
  Lead lead;              // what it should take, and the vendor
  double least_lead = 0;  // for it to be lent
};

// Of products of few rows, which read their weights once, of few columns, which read A once, and of
// integers and f32: kernels of problems of the same kind that have as many of these or up to twice
// as many, or at least half as many where that is many, and whose other sizes are at most three
// factors of two away. Of batches in f32 and 16 bits, as attention is computed by: of batches whose
// sizes are, and whose number of entries is at most two. The fastest first. Each was measured
// `where` it says, with the vendor, and its time scales with the bytes that are read or with the
// blocks that each SM computes, whichever grows more (scaled_times.h); the vendor's is by the
// nearest problems (vendor_neighbours.h). Both operands are along k, or in f32 B along n, or k is
// the rows of a narrow layer whose weights' gradients they are, in f32 and 16 bits; a batch's in
// any order but along m and k. Empty for other products. `request` is of a comparable() problem.
std::vector<EstimatedLead> estimated_leads(const Snapshot& snapshot, const Request& request,
                                           const Target& target, Measured where);

}  // namespace gemmtune::dispatch
