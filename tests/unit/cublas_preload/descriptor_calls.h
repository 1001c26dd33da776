#pragma once

#include "vendor/cublaslt_api.h"

// cuBLASLt's functions that make and change descriptors. None of them is taken.
extern "C" {
gemmtune::vendor::lt::Functions::layout_create cublasLtMatrixLayoutCreate;
gemmtune::vendor::lt::Functions::layout_init cublasLtMatrixLayoutInit_internal;
gemmtune::vendor::lt::Functions::layout_set cublasLtMatrixLayoutSetAttribute;
gemmtune::vendor::lt::Functions::layout_destroy cublasLtMatrixLayoutDestroy;
gemmtune::vendor::lt::Functions::operation_create cublasLtMatmulDescCreate;
gemmtune::vendor::lt::Functions::operation_init cublasLtMatmulDescInit_internal;
gemmtune::vendor::lt::Functions::operation_set cublasLtMatmulDescSetAttribute;
gemmtune::vendor::lt::Functions::operation_destroy cublasLtMatmulDescDestroy;
}
