#pragma once

#include "cublas_preload/asked.h"

namespace gemmtune::cublas_preload {

// Whether cuBLASLt's heuristic names `algorithm` first for a call of cublasLtMatmul, asked for no
// more than the call's workspace limit and its operands' alignments, or the limit alone. Takes tens
// of microseconds; asks the GPU nothing.
bool names_first(const MatmulCall& call, const CallPointers& pointers,
                 const lt::Algorithm& algorithm);

}  // namespace gemmtune::cublas_preload
