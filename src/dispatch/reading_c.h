#pragma once

#include "core/problem.h"
#include "dispatch/request.h"

namespace gemmtune::dispatch {

// By how much more an own kernel's time grows than that of cuBLASLt's algorithms where beta is not
// 0, so that C is read, in microseconds: what hardly any product exceeds. Results are measured with
// a beta of 0. An H100, 166 products, both ways (docs/performance.md, "What reading C costs").
double most_for_reading_c_us(const Problem& problem);

// The same for a request; 0 for one that does not read C.
inline double more_for_c_us(const Request& request) {
  return request.reads_c ? most_for_reading_c_us(request.problem) : 0;
}

}  // namespace gemmtune::dispatch
