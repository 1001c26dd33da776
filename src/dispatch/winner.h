#pragma once

#include <string_view>

#include "dispatch/decision.h"
#include "dispatch/failure.h"

namespace gemmtune::dispatch {

// Why a problem of which no result is known has no winner.
inline constexpr std::string_view kNotTuned = "not tuned";

// A kernel that is ahead by less takes the place of none: from one card to the next, and from a
// series of one product to a program, times differ by as much.
inline constexpr double kLeastGain = 1.01;

// An own kernel that was measured to be faster than all of cuBLASLt's algorithms, by kLeastGain.
struct Winner {
  Choice choice;      // of route kernel
  double own_us = 0;  // what both took, where they were compared
  double vendor_us = 0;
};

// The own kernel that beat cuBLASLt by kLeastGain on the problem itself, or on the same with
// pointers of another alignment class, on this device or another of its model; or by what decide()
// asks of another model, of more rows or of a similar problem. Where C is read, by
// most_for_reading_c_us() more. NO_KERNEL, with why in a few words, if there is none; what was
// predicted, otherwise borrowed from other problems or never compared does not count. The result
// refers to `snapshot`.
Outcome<Winner> winner(const Snapshot& snapshot, const Request& request, const Target& target);

}  // namespace gemmtune::dispatch
