#pragma once

#include "core/problem.h"
#include "dispatch/failure.h"

namespace gemmtune::dispatch {

// What the caller of the C interface asks for, in this project's own terms.
struct Request {
  Problem problem;                // valid and comparable()
  bool operands_swapped = false;  // the caller's A is the problem's B
  bool device_scalars = false;
};

// INVALID_ARGUMENT, with what is wrong, for anything that is no problem.
Outcome<Request> parse_request(const gemmtune_problem& problem);

// The form that problems are compared in: canonical, with strides of 0 where there is no batch, and
// an alignment of at most 16 bytes, as more makes no difference.
Problem comparable(const Problem& problem);

}  // namespace gemmtune::dispatch
