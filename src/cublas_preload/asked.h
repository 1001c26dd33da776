#pragma once

#include "cublas_preload/descriptors.h"

namespace gemmtune::cublas_preload {

// Who chose the algorithm of a call.
enum class AlgorithmChoice {
  cublas,  // the call names none
  hint,    // a cublasGemmAlgo_t other than the defaults: without effect from sm_80 on
  caller,  // what cublasLtMatmul was given, or a function of cuBLAS that tunes by itself
};

// A call for a product: all that matters to who computes it.
struct Asked {
  Product product;
  CallPointers pointers;
  CUstream stream = nullptr;
  AlgorithmChoice choice = AlgorithmChoice::cublas;
  const lt::Algorithm* algorithm = nullptr;  // of cublasLtMatmul
  bool handle_known = true;                  // all settings of the handle were seen
};

}  // namespace gemmtune::cublas_preload
