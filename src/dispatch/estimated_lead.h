#pragma once

#include <cstdint>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/request.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// How many times as fast as the vendor a kernel has to be by estimates for it to be lent
// (docs/decisions/0036-estimated-times.md). In types of 16 bits and integers the vendor mostly
// takes longer than its least time, and own kernels for f32 less than is estimated. That is not
// counted on for an n and k that were measured with other rows, types or epilogues, nor near a
// card's power limit; of integers, which are further ahead there, for kernels that share the k of a
// tile out instead.
inline constexpr double kLeadByEstimate = 1.03;
inline constexpr double kLeadByLooseEstimate = 0.95;
inline constexpr double kLeadByEstimateInF32 = 0.8;

// What a kernel that won another problem should take for one that was not measured.
struct EstimatedLead {
  uint32_t number = 0;    // of the problem that it won, in the snapshot
  Lead lead;              // the most that it should take, and the least that the vendor should
  double least_lead = 0;  // for it to be lent
};

// Of products of few rows, which read their weights once, and of integers: kernels of problems of
// the same kind whose rows are as many or up to twice as many, or at least half as many where that
// is many, and whose n and k are at most three factors of two away. The fastest first. Each was
// measured `where` it says, with the vendor, and its time scales with the bytes that are read or
// with the blocks that each SM computes, whichever grows more; the vendor's with what grows less,
// but it is no faster than for any of many such problems (scaled_times.h). Empty for other products
// and, but in f32, for weights along n.
// `request` is of a comparable() problem.
std::vector<EstimatedLead> estimated_leads(const Snapshot& snapshot, const Request& request,
                                           const Target& target, Measured where);

}  // namespace gemmtune::dispatch
