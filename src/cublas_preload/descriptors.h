#pragma once

#include <cstddef>
#include <cstdint>

#include "cublas_preload/product.h"

// What describes products, so that one can be understood without asking cuBLAS for anything. Values
// only.
namespace gemmtune::cublas_preload {

// Of a cublasHandle_t. The defaults are those of a new one.
struct HandleState {
  CUstream stream = nullptr;
  int64_t workspace_bytes = Product::kOwnWorkspace;
  int32_t math_mode = 0;
  lt::PointerMode pointer_mode = lt::PointerMode::host;
  int32_t sm_count = 0;   // 0: all
  bool known = false;     // cuBLAS said so
  bool emulates = false;  // was told how to emulate f32 or f64 by other types
};

// Of a cublasLtMatrixLayout_t.
struct LayoutState {
  uint64_t rows = 0;
  uint64_t columns = 0;
  Operand memory;
  int32_t batch = 1;
  uint32_t oddities = 0;

  bool operator==(const LayoutState&) const = default;
};

// Of a cublasLtMatmulDesc_t.
struct OperationState {
  lt::ComputeType compute = lt::ComputeType::f32;
  lt::ElementType scale_type = lt::ElementType::f32;
  int32_t pointer_mode = 0;
  lt::Transpose transpose_a = lt::Transpose::no;
  lt::Transpose transpose_b = lt::Transpose::no;
  lt::Epilogue epilogue = lt::Epilogue::none;
  int32_t bias_type = Product::kTypeOfResult;
  const void* bias = nullptr;
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  lt::ScaleMode mode_of_scale_a = lt::ScaleMode::scalar;
  lt::ScaleMode mode_of_scale_b = lt::ScaleMode::scalar;
  bool fast_sums = false;
  uint32_t oddities = 0;
};

LayoutState new_layout(lt::ElementType type, uint64_t rows, uint64_t columns, int64_t ld);
OperationState new_operation(lt::ComputeType compute, lt::ElementType scale_type);

// Pointers of a call.
struct CallPointers {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;  // as `d` except where cuBLASLt is given another one
  const void* d = nullptr;
  const void* beta = nullptr;
  const void* alpha = nullptr;
  const void* bias = nullptr;
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
};

// What a call of cuBLAS asks for, from a product that has its sizes and operands, and the settings
// of `handle`.
void complete(Product& product, const HandleState& handle, const CallPointers& pointers);

// What is known of what a call of cublasLtMatmul names; null for nothing.
struct MatmulStates {
  const OperationState* operation = nullptr;
  const LayoutState* a = nullptr;
  const LayoutState* b = nullptr;
  const LayoutState* c = nullptr;
  const LayoutState* d = nullptr;
};

// What such a call asks for; with Oddity::unknown_descriptor and little else where one of the
// states but that of C is missing.
Product matmul_product(const MatmulStates& states, const CallPointers& pointers,
                       int64_t workspace_bytes);

// The type of alpha and beta that a compute type goes with in cuBLAS.
lt::ElementType scale_type_of(lt::ComputeType compute);

}  // namespace gemmtune::cublas_preload
