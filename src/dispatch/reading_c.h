#pragma once

#include "core/problem.h"

namespace gemmtune::dispatch {

// By how much more an own kernel's time grows than that of cuBLASLt's algorithms where beta is not
// 0, so that C is read, in microseconds: the most that was seen. Results are measured with a beta
// of 0. An H100, 24 products of programs, both ways (docs/performance.md, "Epilogues").
double most_for_reading_c_us(const Problem& problem);

}  // namespace gemmtune::dispatch
