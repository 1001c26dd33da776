#pragma once

#include "app/capture/product_count.h"
#include "app/run/run.h"

namespace gemmtune::app {

// Puts together what was counted in all processes.
RunReport run_report(const ProductCounts& counts);

// The products of `counts` that are problems, for which nothing was tuned.
ProductCounts not_tuned(const ProductCounts& counts);

}  // namespace gemmtune::app
