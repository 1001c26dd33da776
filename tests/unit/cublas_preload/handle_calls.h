#pragma once

#include "vendor/cublas_api.h"

// cuBLAS's functions that make a handle, and tell it what it is asked for again. None of them is
// taken.
#define GEMMTUNE_HANDLE_CALLS(X)                                                 \
  X(cublasCreate_v2, gemmtune::vendor::blas::Settings::create)                   \
  X(cublasSetPointerMode_v2, gemmtune::vendor::blas::Settings::set_pointer_mode) \
  X(cublasSetMathMode, gemmtune::vendor::blas::Settings::set_math_mode)          \
  X(cublasSetSmCountTarget, gemmtune::vendor::blas::Settings::set_sm_count)      \
  X(cublasSetEmulationStrategy, gemmtune::vendor::blas::Settings::set_emulation)

// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define GEMMTUNE_DECLARE_HANDLE_CALL(name, signature) signature name;
extern "C" {
GEMMTUNE_HANDLE_CALLS(GEMMTUNE_DECLARE_HANDLE_CALL)
}
#undef GEMMTUNE_DECLARE_HANDLE_CALL
