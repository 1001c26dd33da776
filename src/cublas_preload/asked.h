#pragma once

#include "cublas_preload/descriptors.h"

namespace gemmtune::cublas_preload {

// Who chose the algorithm of a call.
enum class AlgorithmChoice {
  cublas,  // the call names none
  hint,    // a cublasGemmAlgo_t other than the defaults: without effect from sm_80 on
  caller,  // what cublasLtMatmul was given, or a function of cuBLAS that tunes by itself
};

// A call of cublasLtMatmul.
struct MatmulCall {
  vendor::lt::Functions::matmul* function = nullptr;  // that of cuBLASLt
  lt::Handle handle = nullptr;
  lt::Operation operation = nullptr;
  const void* alpha = nullptr;
  const void* a = nullptr;
  lt::Layout a_layout = nullptr;
  const void* b = nullptr;
  lt::Layout b_layout = nullptr;
  const void* beta = nullptr;
  const void* c = nullptr;
  lt::Layout c_layout = nullptr;
  void* d = nullptr;
  lt::Layout d_layout = nullptr;
  const lt::Algorithm* algorithm = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  CUstream stream = nullptr;

  lt::Status operator()() const {
    return function(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d,
                    d_layout, algorithm, workspace, workspace_bytes, stream);
  }
};

// A call for a product: all that matters to who computes it.
struct Asked {
  Product product;
  CallPointers pointers;
  CUstream stream = nullptr;
  AlgorithmChoice choice = AlgorithmChoice::cublas;
  const lt::Algorithm* algorithm = nullptr;  // of cublasLtMatmul
  const MatmulCall* matmul = nullptr;        // likewise
  bool handle_known = true;                  // cuBLAS says what the handle was told
};

}  // namespace gemmtune::cublas_preload
