#pragma once

#include <string_view>

#include "dispatch/decision.h"
#include "dispatch/failure.h"

namespace gemmtune::dispatch {

// Why a problem of which no result is known has no winner.
inline constexpr std::string_view kNotTuned = "not tuned";

// An own kernel that was measured to be faster than all of cuBLASLt's algorithms.
struct Winner {
  Choice choice;      // of route kernel
  double own_us = 0;  // what both took, where they were compared
  double vendor_us = 0;
};

// The own kernel that beat cuBLASLt on the problem itself, or on the same with pointers of another
// alignment class, on this device or another of its model. NO_KERNEL, with why in a few words, if
// there is none; what was predicted, borrowed from other problems or never compared does not count.
// The result refers to `snapshot`.
Outcome<Winner> winner(const Snapshot& snapshot, const Request& request, const Target& target);

}  // namespace gemmtune::dispatch
