#pragma once

// The one argument of every GEMM kernel, passed by value. What is computed of it: epilogue.h.

namespace gemmtune {

struct GemmArgs {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;          // read only when beta != 0
  void* workspace = nullptr;  // device memory, where the launch plan or notes ask for it
  int m = 0;                  // rows of op(A) and C
  int n = 0;                  // columns of op(B) and C
  int k = 0;
  int batch = 1;
  long long lda = 0;  // leading dimensions, in elements
  long long ldb = 0;
  long long ldc = 0;
  long long stride_a = 0;  // from one batch entry to the next, in elements
  long long stride_b = 0;
  long long stride_c = 0;
  float alpha = 1.0f;
  float beta = 0.0f;
  const void* bias = nullptr;  // of C's type, aligned to one element; read by kernels with a bias
  int raster = 1;              // tile rows per group, in which some kernels go through C
  const float* scale_a = nullptr;  // read by kernels with scales
  const float* scale_b = nullptr;
};

}  // namespace gemmtune
