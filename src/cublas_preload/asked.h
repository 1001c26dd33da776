#pragma once

#include "cublas_preload/descriptors.h"

namespace gemmtune::cublas_preload {

// Who chose the algorithm of a call.
enum class AlgorithmChoice {
  cublas,  // the call names none
  hint,    // a cublasGemmAlgo_t other than the defaults: without effect from sm_80 on
  caller,  // what cublasLtMatmul was given, or a function of cuBLAS that tunes by itself
};

// What a call of cublasLtMatmul names beside its operands.
struct MatmulCall {
  const void* function = nullptr;  // that of cuBLASLt
  lt::Handle handle = nullptr;
  lt::Operation operation = nullptr;
  lt::Layout a = nullptr;
  lt::Layout b = nullptr;
  lt::Layout c = nullptr;
  lt::Layout d = nullptr;
  size_t workspace_bytes = 0;
};

// A call for a product: all that matters to who computes it.
struct Asked {
  Product product;
  CallPointers pointers;
  CUstream stream = nullptr;
  AlgorithmChoice choice = AlgorithmChoice::cublas;
  const lt::Algorithm* algorithm = nullptr;  // of cublasLtMatmul
  const MatmulCall* matmul = nullptr;        // likewise
  bool handle_known = true;                  // all settings of the handle were seen
};

}  // namespace gemmtune::cublas_preload
