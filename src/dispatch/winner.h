#pragma once

#include <string_view>
#include <vector>

#include "dispatch/decision.h"
#include "dispatch/failure.h"

namespace gemmtune::dispatch {

// Why a problem of which no result is known has no winner.
inline constexpr std::string_view kNotTuned = "not tuned";

// What is ahead by less takes the place of nothing: from one card to the next, and from a series of
// one product to a program, times differ by as much.
inline constexpr double kLeastGain = 1.01;

// What takes the place of the algorithm that a program gets from cuBLASLt, its heuristic's first.
struct Winner {
  Choice choice;      // an own kernel, or an algorithm of cuBLASLt's
  double own_us = 0;  // what it took, and what it was compared with, where they were
  double vendor_us = 0;
};

// The own kernel that beat all of cuBLASLt's algorithms by kLeastGain on the problem itself, or on
// the same with pointers of another alignment class, on this device or another of its model; or by
// what decide() asks of another model, of more rows or of a similar problem. Where there is none:
// of the own kernel and cuBLASLt's fastest algorithm, measured of the problem itself, those that
// beat the heuristic's first one by as much, the faster one first (docs/decisions/0030). Where C is
// read, a kernel has to be ahead by most_for_reading_c_us() more, and an algorithm is none.
// The first is to run; the next one is for where it turns out not to be available. NO_KERNEL, with
// why in a few words, if there is none; what was predicted, otherwise borrowed from other problems
// or never compared does not count. The result refers to `snapshot`.
Outcome<std::vector<Winner>> winners(const Snapshot& snapshot, const Request& request,
                                     const Target& target);

// What takes the place of algorithms that are slower than cuBLASLt's fastest one by an unknown
// factor: the own kernel that was measured of the problem itself, unless that one is ahead of it by
// kLeastGain. Of integers, whose other algorithms are known to be far behind, also the kernel of
// the nearest number of rows (borrow_of_other_rows()), else of another n and k
// (borrow_by_estimate()). In order, as winners(). NO_KERNEL if there is none. The result refers to
// `snapshot`.
Outcome<std::vector<Winner>> level_kernels(const Snapshot& snapshot, const Request& request,
                                           const Target& target);

}  // namespace gemmtune::dispatch
