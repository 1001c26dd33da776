#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "vendor/cublaslt_api.h"

// What this project uses of cuBLAS's C interface. Signatures and values are those of the libraries
// of CUDA 12 and 13; tests/unit/vendor/cublas_header_test.cc compares them with the header where
// one is installed.
namespace gemmtune::vendor::blas {

using lt::ComputeType;
using lt::ElementType;
using lt::PointerMode;
using lt::Status;
using lt::Transpose;

// Known to the library alone. A cublasHandle_t is a cublasLtHandle_t too.
struct HandleState;
using Handle = HandleState*;

// How f32 products are formed where the call does not say. A handle's mode may also have the flag
// below.
enum class MathMode : int32_t { standard = 0, tensor = 1, pedantic = 2, tf32 = 3 };
inline constexpr int32_t kFullPrecisionReduction = 16;

// Of f32 and f64 by other types.
enum class EmulationStrategy : int32_t { by_default = 0, where_faster = 1, always = 2 };

// A hint that is without effect from sm_80 on.
enum class Algorithm : int32_t { by_default = -1 };

// An element of an f16 matrix.
struct Half {
  uint16_t bits;
};

// The signatures of the products C = alpha * op(A) * op(B) + beta * C, all column-major. `Int` is
// int, or int64_t for the functions whose names end in "_64".
template <class Int>
struct Products {
  template <class Element>
  using gemm = Status(Handle, Transpose, Transpose, Int m, Int n, Int k, const Element* alpha,
                      const Element* a, Int lda, const Element* b, Int ldb, const Element* beta,
                      Element* c, Int ldc);
  template <class Element>
  using gemm_strided = Status(Handle, Transpose, Transpose, Int m, Int n, Int k,
                              const Element* alpha, const Element* a, Int lda, long long stride_a,
                              const Element* b, Int ldb, long long stride_b, const Element* beta,
                              Element* c, Int ldc, long long stride_c, Int batch);
  template <class Element>
  using gemm_batched = Status(Handle, Transpose, Transpose, Int m, Int n, Int k,
                              const Element* alpha, const Element* const* a, Int lda,
                              const Element* const* b, Int ldb, const Element* beta,
                              Element* const* c, Int ldc, Int batch);
  // y = alpha * op(A) * x + beta * y; m and n are A's.
  template <class Element>
  using gemv = Status(Handle, Transpose, Int m, Int n, const Element* alpha, const Element* a,
                      Int lda, const Element* x, Int incx, const Element* beta, Element* y,
                      Int incy);
  // cublasSgemmEx
  using sgemm_ex = Status(Handle, Transpose, Transpose, Int m, Int n, Int k, const float* alpha,
                          const void* a, ElementType, Int lda, const void* b, ElementType, Int ldb,
                          const float* beta, void* c, ElementType, Int ldc);
  using gemm_ex = Status(Handle, Transpose, Transpose, Int m, Int n, Int k, const void* alpha,
                         const void* a, ElementType, Int lda, const void* b, ElementType, Int ldb,
                         const void* beta, void* c, ElementType, Int ldc, ComputeType, Algorithm);
  using gemm_strided_ex = Status(Handle, Transpose, Transpose, Int m, Int n, Int k,
                                 const void* alpha, const void* a, ElementType, Int lda,
                                 long long stride_a, const void* b, ElementType, Int ldb,
                                 long long stride_b, const void* beta, void* c, ElementType,
                                 Int ldc, long long stride_c, Int batch, ComputeType, Algorithm);
  using gemm_batched_ex = Status(Handle, Transpose, Transpose, Int m, Int n, Int k,
                                 const void* alpha, const void* const* a, ElementType, Int lda,
                                 const void* const* b, ElementType, Int ldb, const void* beta,
                                 void* const* c, ElementType, Int ldc, Int batch, ComputeType,
                                 Algorithm);
  // Every argument of a product, but the handle, is an array with a value a group.
  template <class Element>
  using gemm_grouped = Status(Handle, const Transpose*, const Transpose*, const Int* m,
                              const Int* n, const Int* k, const Element* alpha,
                              const Element* const* a, const Int* lda, const Element* const* b,
                              const Int* ldb, const Element* beta, Element* const* c,
                              const Int* ldc, Int groups, const Int* group_sizes);
  using gemm_grouped_ex = Status(Handle, const Transpose*, const Transpose*, const Int* m,
                                 const Int* n, const Int* k, const void* alpha,
                                 const void* const* a, ElementType, const Int* lda,
                                 const void* const* b, ElementType, const Int* ldb,
                                 const void* beta, void* const* c, ElementType, const Int* ldc,
                                 Int groups, const Int* group_sizes, ComputeType);
};

// What a handle is told about the products to come.
struct Settings {
  using create = Status(Handle*);
  using destroy = Status(Handle);
  using set_stream = Status(Handle, CUstream);  // and goes back to the handle's own workspace
  using set_workspace = Status(Handle, void*, size_t bytes);
  using set_pointer_mode = Status(Handle, PointerMode);
  using set_math_mode = Status(Handle, MathMode);
  using set_sm_count = Status(Handle, int);  // 0: all
  using set_emulation = Status(Handle, EmulationStrategy);
};

// What a handle says of that.
struct Questions {
  using get_stream = Status(Handle, CUstream*);
  using get_pointer_mode = Status(Handle, PointerMode*);
  using get_math_mode = Status(Handle, MathMode*);
  using get_sm_count = Status(Handle, int*);
  using get_emulation = Status(Handle, EmulationStrategy*);
};

}  // namespace gemmtune::vendor::blas
