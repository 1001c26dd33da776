#pragma once

#include "cublas_preload/product_file.h"

namespace gemmtune::cublas_preload {

// Whether an own kernel has turned out slower than cuBLAS in this process: by more than a
// hundredth, medians of what is kept, and of eight samples of each at least. A result of tuning is
// of other clocks and neighbours than a program's. May run while samples are added.
bool is_slower_here(const Samples& own, const Samples& cublas);

}  // namespace gemmtune::cublas_preload
