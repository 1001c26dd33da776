#pragma once

#include <cstddef>
#include <vector>

#include "app/common/problems.h"

namespace gemmtune::app {

// Of problems with up to this many rows that differ in nothing else, thin_rows() leaves out some.
// With more rows times grow, and say less of each other.
inline constexpr int64_t kMostThinnedRows = 128;

// Leaves out problems whose rows lie between those of two others that stay: from the largest
// number down, the next one that stays has a quarter fewer rows, or eight fewer where that is more;
// the smallest stays. What lies between runs on the kernel for the larger one, where that pays
// (dispatch/row_bounds.h). Returns how many were left out.
size_t thin_rows(std::vector<WantedProblem>& wanted);

}  // namespace gemmtune::app
