#pragma once

#include "dispatch/decision.h"

namespace gemmtune::dispatch {

// Adds the kernel that a problem which was not measured on this model of device borrows, by rules 2
// to 7 of decide(), if there is one.
void borrow(const Snapshot& snapshot, const Request& request, const Target& target,
            Decision& decision);

}  // namespace gemmtune::dispatch
