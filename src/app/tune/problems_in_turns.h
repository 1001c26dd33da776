#pragma once

#include <cstddef>
#include <vector>

#include "app/tune/plan.h"

namespace gemmtune::app {

// How many problems of a list are best tuned at a time on each GPU of `target`, by a process for
// each, so that compilers work for one while another measures (docs/performance.md, "Search"):
// 2, or 1 where that gains nothing or cannot be done: GPUs that the user listed one by one, few
// problems, a time for each of them, few threads, no program for the processes, a GPU that takes
// one process only or has no memory for the operands of both.
size_t problems_in_turns(const TuneOptions& options, const SearchOptions& search,
                         const Target& target, const std::vector<PlannedProblem>& problems);

}  // namespace gemmtune::app
