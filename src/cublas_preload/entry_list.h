#pragma once

#include "vendor/cublas_api.h"

// The functions of cuBLAS and cuBLASLt that this library stands in front of: name, and signature.
namespace gemmtune::cublas_preload {

namespace lt = vendor::lt;
using Products32 = vendor::blas::Products<int>;
using Products64 = vendor::blas::Products<int64_t>;

#define GEMMTUNE_CUBLAS_PRODUCTS(X)                                             \
  X(cublasSgemm_v2, Products32::gemm<float>)                                    \
  X(cublasSgemm_v2_64, Products64::gemm<float>)                                 \
  X(cublasDgemm_v2, Products32::gemm<double>)                                   \
  X(cublasDgemm_v2_64, Products64::gemm<double>)                                \
  X(cublasHgemm, Products32::gemm<vendor::blas::Half>)                          \
  X(cublasHgemm_64, Products64::gemm<vendor::blas::Half>)                       \
  X(cublasSgemmStridedBatched, Products32::gemm_strided<float>)                 \
  X(cublasSgemmStridedBatched_64, Products64::gemm_strided<float>)              \
  X(cublasDgemmStridedBatched, Products32::gemm_strided<double>)                \
  X(cublasDgemmStridedBatched_64, Products64::gemm_strided<double>)             \
  X(cublasHgemmStridedBatched, Products32::gemm_strided<vendor::blas::Half>)    \
  X(cublasHgemmStridedBatched_64, Products64::gemm_strided<vendor::blas::Half>) \
  X(cublasSgemmBatched, Products32::gemm_batched<float>)                        \
  X(cublasSgemmBatched_64, Products64::gemm_batched<float>)                     \
  X(cublasDgemmBatched, Products32::gemm_batched<double>)                       \
  X(cublasDgemmBatched_64, Products64::gemm_batched<double>)                    \
  X(cublasHgemmBatched, Products32::gemm_batched<vendor::blas::Half>)           \
  X(cublasHgemmBatched_64, Products64::gemm_batched<vendor::blas::Half>)        \
  X(cublasSgemmGroupedBatched, Products32::gemm_grouped<float>)                 \
  X(cublasSgemmGroupedBatched_64, Products64::gemm_grouped<float>)              \
  X(cublasDgemmGroupedBatched, Products32::gemm_grouped<double>)                \
  X(cublasDgemmGroupedBatched_64, Products64::gemm_grouped<double>)             \
  X(cublasSgemv_v2, Products32::gemv<float>)                                    \
  X(cublasSgemv_v2_64, Products64::gemv<float>)                                 \
  X(cublasDgemv_v2, Products32::gemv<double>)                                   \
  X(cublasDgemv_v2_64, Products64::gemv<double>)                                \
  X(cublasSgemmEx, Products32::sgemm_ex)                                        \
  X(cublasSgemmEx_64, Products64::sgemm_ex)                                     \
  X(cublasGemmEx, Products32::gemm_ex)                                          \
  X(cublasGemmEx_64, Products64::gemm_ex)                                       \
  X(cublasGemmStridedBatchedEx, Products32::gemm_strided_ex)                    \
  X(cublasGemmStridedBatchedEx_64, Products64::gemm_strided_ex)                 \
  X(cublasGemmBatchedEx, Products32::gemm_batched_ex)                           \
  X(cublasGemmBatchedEx_64, Products64::gemm_batched_ex)                        \
  X(cublasGemmGroupedBatchedEx, Products32::gemm_grouped_ex)                    \
  X(cublasGemmGroupedBatchedEx_64, Products64::gemm_grouped_ex)

#define GEMMTUNE_CUBLAS_SETTINGS(X)                         \
  X(cublasDestroy_v2, vendor::blas::Settings::destroy)      \
  X(cublasSetStream_v2, vendor::blas::Settings::set_stream) \
  X(cublasSetWorkspace_v2, vendor::blas::Settings::set_workspace)

// Those that it asks what a handle was told.
#define GEMMTUNE_CUBLAS_QUESTIONS(X)                                    \
  X(cublasGetStream_v2, vendor::blas::Questions::get_stream)            \
  X(cublasGetPointerMode_v2, vendor::blas::Questions::get_pointer_mode) \
  X(cublasGetMathMode, vendor::blas::Questions::get_math_mode)          \
  X(cublasGetSmCountTarget, vendor::blas::Questions::get_sm_count)      \
  X(cublasGetEmulationStrategy, vendor::blas::Questions::get_emulation)

#define GEMMTUNE_CUBLASLT_TAKEN(X) X(cublasLtMatmul, lt::Functions::matmul)

// Those that it asks which algorithm is the first choice for a product.
#define GEMMTUNE_CUBLASLT_QUESTIONS(X)                                   \
  X(cublasLtMatmulPreferenceCreate, lt::Functions::preference_create)    \
  X(cublasLtMatmulPreferenceSetAttribute, lt::Functions::preference_set) \
  X(cublasLtMatmulPreferenceDestroy, lt::Functions::preference_destroy)  \
  X(cublasLtMatmulAlgoGetHeuristic, lt::Functions::get_heuristic)

}  // namespace gemmtune::cublas_preload
