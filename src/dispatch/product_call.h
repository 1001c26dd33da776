#pragma once

#include <cstddef>

#include "dispatch/dispatcher.h"
#include "dispatch/failure.h"
#include "gemmtune/gemmtune.h"

namespace gemmtune::dispatch {

// One call of gemmtune_gemm: finds the plan of the problem, in the thread's own cache where it was
// used last, or makes it, and enqueues the product. `problem` may be null, and `operands` are as
// the caller names them.
Outcome<void> run_product(Dispatcher& dispatcher, const gemmtune_problem* problem,
                          const Operands& operands, size_t workspace_bytes, CUstream stream);

// The same for gemmtune_run; `operands` may be null.
Outcome<void> run_product(Dispatcher& dispatcher, const gemmtune_problem* problem,
                          const gemmtune_operands* operands, CUstream stream);

}  // namespace gemmtune::dispatch
