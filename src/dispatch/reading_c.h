#pragma once

#include "core/problem.h"
#include "dispatch/request.h"

namespace gemmtune::dispatch {

// By how much more an own kernel's time grows than that of cuBLASLt's algorithms where beta is not
// 0, so that C is read, in microseconds: the most that was seen. Results are measured with a beta
// of 0. An H100, 24 products of programs, both ways (docs/performance.md, "Epilogues").
double most_for_reading_c_us(const Problem& problem);

// The same for a request; 0 for one that does not read C.
inline double more_for_c_us(const Request& request) {
  return request.reads_c ? most_for_reading_c_us(request.problem) : 0;
}

}  // namespace gemmtune::dispatch
