#pragma once

#include <optional>
#include <vector>

#include "dispatch/decision.h"

namespace gemmtune::dispatch {

// Adds the kernel that a problem which was not measured on this model of device borrows, by rules 2
// to 8 of decide(), if there is one.
void borrow(const Snapshot& snapshot, const Request& request, const Target& target,
            Decision& decision);

// The kernel that was measured of the same problem with the nearest number of rows, at most twice
// or at least half as many; of more rows where there are some. Its lead is what was measured there.
// The next one is for where a kernel is not available. Empty where there is none on this model of
// device, or that one may not run.
std::vector<Choice> borrow_of_other_rows(const Snapshot& snapshot, const Request& request,
                                         const Target& target);

// The kernel that should be the fastest by its time for another n and k (estimated_lead.h), where
// it should be ahead of the vendor's fastest algorithm by as much as is asked for there, or `least`
// times as fast where that is given; by its times on another model a little more. The next one is
// for where a kernel is not available.
std::vector<Choice> borrow_by_estimate(const Snapshot& snapshot, const Request& request,
                                       const Target& target, std::optional<double> least);

}  // namespace gemmtune::dispatch
