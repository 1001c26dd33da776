#pragma once

#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {

// Whether an own kernel has turned out slower than cuBLAS in this process: by more than a
// hundredth, beyond doubt, and of eight samples of each at least. A result of tuning is of other
// clocks and neighbours than a program's. Times between events hold some of what the GPU waits for
// the host, so samples are compared by rank: in the Mann-Whitney test, three standard deviations
// (H. B. Mann, D. R. Whitney: On a Test of Whether one of Two Random Variables is Stochastically
// Larger than the Other, 1947). May run while samples are added.
bool is_slower_here(const Samples& own, const Samples& cublas);

}  // namespace gemmtune::cublas_preload
