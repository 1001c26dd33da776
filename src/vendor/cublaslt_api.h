#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

// What this project uses of cuBLASLt's C interface: NVIDIA ships its header only with the library,
// hundreds of megabytes. Values, sizes and signatures are those of the libraries of CUDA 12 and 13;
// tests/unit/vendor/cublaslt_header_test.cc compares them with the header where one is installed.
namespace gemmtune::vendor::lt {

// What its functions return; only what this project tells apart has a name.
enum class Status : int32_t {
  success = 0,
  allocation_failed = 3,
  invalid_value = 7,
  arch_mismatch = 8,
  execution_failed = 13,
  not_supported = 15,
};

// Of the elements of a matrix, and of alpha and beta.
enum class ElementType : int32_t {
  f32 = 0,
  f16 = 2,
  i8 = 3,
  i32 = 10,
  bf16 = 14,
  e4m3 = 28,
  e5m2 = 29
};

// What products are computed in.
enum class ComputeType : int32_t {
  f16 = 64,
  f32 = 68,
  i32 = 72,
  f32_fast_f16 = 74,
  f32_fast_tf32 = 77
};

enum class Transpose : int32_t { no = 0, yes = 1 };

// How a matrix lies in memory; the orders above these are of tiles.
enum class Order : int32_t { column_major = 0, row_major = 1 };

// What happens to a product before it is stored. The bias has a value for each row of D.
enum class Epilogue : uint32_t {
  none = 1,
  relu = 2,
  bias = 4,
  relu_bias = 6,
  gelu = 32,
  gelu_bias = 36,
};

// What a scale's address holds: f32, those but the first from 12.9 on.
enum class ScaleMode : int32_t {
  scalar = 0,
  outer_vector = 3,
  vec128 = 4,      // of each line and 128 of k
  blk128x128 = 5,  // of 128 lines and 128 of k each
};

// Where alpha and beta are.
enum class PointerMode : int32_t { host = 0, device = 1 };

enum class LayoutAttribute : int32_t {
  type = 0,          // ElementType
  order = 1,         // Order
  rows = 2,          // uint64_t
  columns = 3,       // uint64_t
  ld = 4,            // int64_t, elements
  batch_count = 5,   // int32_t
  batch_stride = 6,  // int64_t, elements
  plane_offset = 7,  // int64_t, bytes
  batch_mode = 8,    // int32_t, 0: by the stride
};

enum class OperationAttribute : int32_t {
  compute_type = 0,  // ComputeType
  scale_type = 1,    // ElementType
  pointer_mode = 2,  // PointerMode
  transpose_a = 3,   // Transpose
  transpose_b = 4,
  transpose_c = 5,
  epilogue = 7,      // Epilogue
  bias_pointer = 8,  // const void*
  sm_count = 15,     // int32_t, 0: all
  a_scale = 17,      // const float*, of 8-bit operands
  b_scale = 18,
  fast_sums = 25,     // int8_t, of 8-bit operands
  bias_type = 26,     // ElementType
  a_scale_mode = 31,  // ScaleMode, from cuBLASLt 12.8 on
  b_scale_mode = 32,
};

enum class PreferenceAttribute : int32_t {
  max_workspace_bytes = 1,  // uint64_t
  min_alignment_a = 5,      // uint32_t, bytes
  min_alignment_b = 6,
  min_alignment_c = 7,
  min_alignment_d = 8,
};

enum class ConfigAttribute : int32_t {
  algorithm_id = 0,  // int32_t
  tile_id = 1,       // uint32_t, as the next ones
  split_k = 2,
  reduction_scheme = 3,
  cta_swizzling = 4,
  custom_option = 5,
  stages_id = 6,
  cluster_shape_id = 8,  // uint16_t
};

// Made and destroyed by the library, and known to it alone.
struct HandleState;
struct LayoutState;
struct OperationState;
struct PreferenceState;
using Handle = HandleState*;
using Layout = LayoutState*;
using Operation = OperationState*;
using Preference = PreferenceState*;

// Known to the library alone too, but callers keep it and may copy it.
struct Algorithm {
  uint64_t state[8];
};

// One answer of the heuristic.
struct Choice {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status status;  // success if the algorithm can run
  float waves;
  int32_t reserved[4];
};

// The signatures, by the name of what they are for.
struct Functions {
  using get_version = size_t();
  using get_status_name = const char*(Status);
  using create = Status(Handle*);
  using destroy = Status(Handle);
  using layout_create = Status(Layout*, ElementType, uint64_t rows, uint64_t columns, int64_t ld);
  using layout_init = Status(Layout, size_t bytes, ElementType, uint64_t rows, uint64_t columns,
                             int64_t ld);
  using layout_destroy = Status(Layout);
  using layout_set = Status(Layout, LayoutAttribute, const void* value, size_t bytes);
  using operation_create = Status(Operation*, ComputeType, ElementType scalars);
  using operation_init = Status(Operation, size_t bytes, ComputeType, ElementType scalars);
  using operation_destroy = Status(Operation);
  using operation_set = Status(Operation, OperationAttribute, const void* value, size_t bytes);
  using preference_create = Status(Preference*);
  using preference_destroy = Status(Preference);
  using preference_set = Status(Preference, PreferenceAttribute, const void* value, size_t bytes);
  using get_heuristic = Status(Handle, Operation, Layout a, Layout b, Layout c, Layout d,
                               Preference, int requested, Choice* choices, int* returned);
  using config_get = Status(const Algorithm*, ConfigAttribute, void* value, size_t bytes,
                            size_t* written);
  // D = alpha * op(A) * op(B) + beta * C, enqueued on the stream.
  using matmul = Status(Handle, Operation, const void* alpha, const void* a, Layout a_layout,
                        const void* b, Layout b_layout, const void* beta, const void* c,
                        Layout c_layout, void* d, Layout d_layout, const Algorithm*,
                        void* workspace, size_t workspace_bytes, CUstream);
};

// Every function used: its name above, and the symbol that the libraries export.
#define GEMMTUNE_CUBLASLT_ENTRIES(X)                      \
  X(get_version, cublasLtGetVersion)                      \
  X(get_status_name, cublasLtGetStatusName)               \
  X(create, cublasLtCreate)                               \
  X(destroy, cublasLtDestroy)                             \
  X(layout_create, cublasLtMatrixLayoutCreate)            \
  X(layout_destroy, cublasLtMatrixLayoutDestroy)          \
  X(layout_set, cublasLtMatrixLayoutSetAttribute)         \
  X(operation_create, cublasLtMatmulDescCreate)           \
  X(operation_destroy, cublasLtMatmulDescDestroy)         \
  X(operation_set, cublasLtMatmulDescSetAttribute)        \
  X(preference_create, cublasLtMatmulPreferenceCreate)    \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy)  \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute) \
  X(get_heuristic, cublasLtMatmulAlgoGetHeuristic)        \
  X(config_get, cublasLtMatmulAlgoConfigGetAttribute)     \
  X(matmul, cublasLtMatmul)

}  // namespace gemmtune::vendor::lt
