// The products of cuBLAS, each handed on as it was called.
#include "cublas_preload/entries.h"
#include "cublas_preload/hand_on.h"

namespace gemmtune::cublas_preload {
namespace {

using vendor::blas::Algorithm;
using vendor::blas::ComputeType;
using vendor::blas::ElementType;
using vendor::blas::Half;
using vendor::blas::Handle;
using vendor::blas::Status;
using vendor::blas::Transpose;

constexpr auto kF64 = static_cast<ElementType>(1);
constexpr auto kComputeF64 = static_cast<ComputeType>(70);

template <class Element>
constexpr ElementType kTypeOf = ElementType::f32;
template <>
constexpr ElementType kTypeOf<double> = kF64;
template <>
constexpr ElementType kTypeOf<Half> = ElementType::f16;

template <class Element>
constexpr ComputeType kComputeOf = ComputeType::f32;
template <>
constexpr ComputeType kComputeOf<double> = kComputeF64;
template <>
constexpr ComputeType kComputeOf<Half> = ComputeType::f16;

// A product in the making, from the arguments that all forms have; of nothing where they say
// nothing.
struct Form {
  Product product;

  Form() = default;
  Form(Transpose op_a, Transpose op_b, int64_t m, int64_t n, int64_t k) {
    product.transpose_a = op_a;
    product.transpose_b = op_b;
    product.m = m;
    product.n = n;
    product.k = k;
  }
  Form& lds(int64_t a, int64_t b, int64_t c) {
    product.a.ld = a;
    product.b.ld = b;
    product.d.ld = c;
    return *this;
  }
  Form& strides(int64_t a, int64_t b, int64_t c, int64_t batch) {
    product.a.stride = a;
    product.b.stride = b;
    product.d.stride = c;
    product.batch = batch;
    return *this;
  }
  Form& types(ElementType a, ElementType b, ElementType c, ComputeType compute) {
    product.a.type = a;
    product.b.type = b;
    product.d.type = c;
    product.compute = compute;
    product.scale_type = scale_type_of(compute);
    return *this;
  }
  template <class Element>
  Form& all_of() {
    return types(kTypeOf<Element>, kTypeOf<Element>, kTypeOf<Element>, kComputeOf<Element>);
  }
  Form& odd(Oddity oddity) {
    add(product, oddity);
    return *this;
  }
};

// A matrix of m x n times a vector.
Form form_of_vectors(Transpose op_a, int64_t m, int64_t n, int64_t lda, int64_t incx,
                     int64_t incy) {
  const int64_t rows = op_a == Transpose::no ? m : n;
  const int64_t k = op_a == Transpose::no ? n : m;
  const bool is_column = incx == 1;
  Form form(op_a, is_column ? Transpose::no : Transpose::yes, rows, 1, k);
  form.lds(lda, is_column ? k : incx, rows);
  return incx < 1 || incy != 1 ? form.odd(Oddity::vector_apart) : form;
}

AlgorithmChoice choice_of(Algorithm algorithm) {
  constexpr int kDefaultForTensors = 99;
  constexpr int kLast = 115;  // of those of CUDA 12; newer ones may tune
  const auto number = static_cast<int>(algorithm);
  if (algorithm == Algorithm::by_default || number == kDefaultForTensors)
    return AlgorithmChoice::cublas;
  return number >= 0 && number <= kLast ? AlgorithmChoice::hint : AlgorithmChoice::caller;
}

}  // namespace

// A batch by pointer arrays: the pointers themselves are in device memory, as may be all arguments
// of products of several sizes.
constexpr CallPointers kNoPointers = {};

#define GEMMTUNE_OPERATIONS(INT) Transpose op_a, Transpose op_b, INT m, INT n, INT k
#define GEMMTUNE_FORM Form(op_a, op_b, m, n, k).lds(lda, ldb, ldc)
#define GEMMTUNE_POINTERS CallPointers({a, b, c, c, beta, alpha, nullptr})

#define GEMMTUNE_ALL_OF(...) __VA_ARGS__

// NOLINTBEGIN(bugprone-macro-parentheses): arguments are types, names and lists

// Defines entry point NAME. What decides whether a call is known: its numbers, its handle, the bits
// of all addresses, beta and its type; what else it asks for: a form, its pointers and who chose
// the algorithm. A call that is known is handed on by a jump, which leaves the arguments where they
// are.
#define GEMMTUNE_PRODUCT(NAME, PARAMETERS, ARGUMENTS, ADDRESSES, BETA, SCALARS, FORM, POINTERS, \
                         CHOICE)                                                                \
  namespace unknown {                                                                           \
  [[gnu::noinline, gnu::cold]] Status NAME(RealFunction::Found real, uint64_t key,              \
                                           GEMMTUNE_ALL_OF PARAMETERS) {                        \
    const auto call = Real<decltype(cublas_preload::NAME)>(real).with ARGUMENTS;                \
    return serve_product(call, key, handle, (FORM).product, POINTERS, CHOICE);                  \
  }                                                                                             \
  }                                                                                             \
  extern "C" Status NAME PARAMETERS {                                                           \
    fetch_entry_point();                                                                        \
    fetch_code_of_blas_call();                                                                  \
    const auto real = GEMMTUNE_REAL(NAME);                                                      \
    const void* const function = real.found().function;                                         \
    if (function == nullptr) return Status::not_supported;                                      \
    bool at_once = real.found().for_cublas;                                                     \
    uint64_t key = HandedOn::kNoKey;                                                            \
    Recorder* const recorder = Recorder::current();                                             \
    if (!at_once && recorder != nullptr) {                                                      \
      key = key_of_blas_call(*recorder, function,                                               \
                             hash_of_numbers(function, GEMMTUNE_ALL_OF ARGUMENTS), handle,      \
                             ADDRESSES, BETA, SCALARS);                                         \
      at_once = Recorder::counts_handed_on(key);                                                \
    }                                                                                           \
    if (at_once) [[likely]]                                                                     \
      return real.function() ARGUMENTS;                                                         \
    return unknown::NAME(real.found(), key, GEMMTUNE_ALL_OF ARGUMENTS);                         \
  }

#define GEMMTUNE_GEMM(NAME, INT, ELEMENT)                                                        \
  GEMMTUNE_PRODUCT(                                                                              \
      NAME,                                                                                      \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const ELEMENT* alpha, const ELEMENT* a, INT lda, \
       const ELEMENT* b, INT ldb, const ELEMENT* beta, ELEMENT* c, INT ldc),                     \
      (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), address_bits(a, b, c), \
      beta, kTypeOf<ELEMENT>, GEMMTUNE_FORM.all_of<ELEMENT>(), GEMMTUNE_POINTERS,                \
      AlgorithmChoice::cublas)
GEMMTUNE_GEMM(cublasSgemm_v2, int, float)
GEMMTUNE_GEMM(cublasSgemm_v2_64, int64_t, float)
GEMMTUNE_GEMM(cublasDgemm_v2, int, double)
GEMMTUNE_GEMM(cublasDgemm_v2_64, int64_t, double)
GEMMTUNE_GEMM(cublasHgemm, int, Half)
GEMMTUNE_GEMM(cublasHgemm_64, int64_t, Half)

// y is C of one column, x is B: of one column, or where its elements lie apart, of one row that is
// transposed.
#define GEMMTUNE_GEMV(NAME, INT, ELEMENT)                                                       \
  GEMMTUNE_PRODUCT(                                                                             \
      NAME,                                                                                     \
      (Handle handle, Transpose op_a, INT m, INT n, const ELEMENT* alpha, const ELEMENT* a,     \
       INT lda, const ELEMENT* x, INT incx, const ELEMENT* beta, ELEMENT* y, INT incy),         \
      (handle, op_a, m, n, alpha, a, lda, x, incx, beta, y, incy), address_bits(a, x, y), beta, \
      kTypeOf<ELEMENT>, form_of_vectors(op_a, m, n, lda, incx, incy).all_of<ELEMENT>(),         \
      CallPointers({a, x, y, y, beta, alpha, nullptr}), AlgorithmChoice::cublas)
GEMMTUNE_GEMV(cublasSgemv_v2, int, float)
GEMMTUNE_GEMV(cublasSgemv_v2_64, int64_t, float)
GEMMTUNE_GEMV(cublasDgemv_v2, int, double)
GEMMTUNE_GEMV(cublasDgemv_v2_64, int64_t, double)

#define GEMMTUNE_GEMM_STRIDED(NAME, INT, ELEMENT)                                                \
  GEMMTUNE_PRODUCT(                                                                              \
      NAME,                                                                                      \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const ELEMENT* alpha, const ELEMENT* a, INT lda, \
       long long stride_a, const ELEMENT* b, INT ldb, long long stride_b, const ELEMENT* beta,   \
       ELEMENT* c, INT ldc, long long stride_c, INT batch),                                      \
      (handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc,     \
       stride_c, batch),                                                                         \
      address_bits(a, b, c), beta, kTypeOf<ELEMENT>,                                             \
      GEMMTUNE_FORM.strides(stride_a, stride_b, stride_c, batch).all_of<ELEMENT>(),              \
      GEMMTUNE_POINTERS, AlgorithmChoice::cublas)
GEMMTUNE_GEMM_STRIDED(cublasSgemmStridedBatched, int, float)
GEMMTUNE_GEMM_STRIDED(cublasSgemmStridedBatched_64, int64_t, float)
GEMMTUNE_GEMM_STRIDED(cublasDgemmStridedBatched, int, double)
GEMMTUNE_GEMM_STRIDED(cublasDgemmStridedBatched_64, int64_t, double)
GEMMTUNE_GEMM_STRIDED(cublasHgemmStridedBatched, int, Half)
GEMMTUNE_GEMM_STRIDED(cublasHgemmStridedBatched_64, int64_t, Half)

#define GEMMTUNE_GEMM_BATCHED(NAME, INT, ELEMENT)                                                  \
  GEMMTUNE_PRODUCT(                                                                                \
      NAME,                                                                                        \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const ELEMENT* alpha, const ELEMENT* const* a,     \
       INT lda, const ELEMENT* const* b, INT ldb, const ELEMENT* beta, ELEMENT* const* c, INT ldc, \
       INT batch),                                                                                 \
      (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batch), 0, nullptr,       \
      kTypeOf<ELEMENT>,                                                                            \
      GEMMTUNE_FORM.strides(0, 0, 0, batch).all_of<ELEMENT>().odd(Oddity::pointer_array),          \
      kNoPointers, AlgorithmChoice::cublas)
GEMMTUNE_GEMM_BATCHED(cublasSgemmBatched, int, float)
GEMMTUNE_GEMM_BATCHED(cublasSgemmBatched_64, int64_t, float)
GEMMTUNE_GEMM_BATCHED(cublasDgemmBatched, int, double)
GEMMTUNE_GEMM_BATCHED(cublasDgemmBatched_64, int64_t, double)
GEMMTUNE_GEMM_BATCHED(cublasHgemmBatched, int, Half)
GEMMTUNE_GEMM_BATCHED(cublasHgemmBatched_64, int64_t, Half)

#define GEMMTUNE_GEMM_GROUPED(NAME, INT, ELEMENT)                                                 \
  GEMMTUNE_PRODUCT(                                                                               \
      NAME,                                                                                       \
      (Handle handle, const Transpose* op_a, const Transpose* op_b, const INT* m, const INT* n,   \
       const INT* k, const ELEMENT* alpha, const ELEMENT* const* a, const INT* lda,               \
       const ELEMENT* const* b, const INT* ldb, const ELEMENT* beta, ELEMENT* const* c,           \
       const INT* ldc, INT groups, const INT* group_sizes),                                       \
      (handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, group_sizes), 0, \
      nullptr, kTypeOf<ELEMENT>, Form().all_of<ELEMENT>().odd(Oddity::grouped), kNoPointers,      \
      AlgorithmChoice::cublas)
GEMMTUNE_GEMM_GROUPED(cublasSgemmGroupedBatched, int, float)
GEMMTUNE_GEMM_GROUPED(cublasSgemmGroupedBatched_64, int64_t, float)
GEMMTUNE_GEMM_GROUPED(cublasDgemmGroupedBatched, int, double)
GEMMTUNE_GEMM_GROUPED(cublasDgemmGroupedBatched_64, int64_t, double)

#define GEMMTUNE_SGEMM_EX(NAME, INT)                                                               \
  GEMMTUNE_PRODUCT(                                                                                \
      NAME,                                                                                        \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const float* alpha, const void* a,                 \
       ElementType a_type, INT lda, const void* b, ElementType b_type, INT ldb, const float* beta, \
       void* c, ElementType c_type, INT ldc),                                                      \
      (handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc),  \
      address_bits(a, b, c), beta, ElementType::f32,                                               \
      GEMMTUNE_FORM.types(a_type, b_type, c_type, ComputeType::f32), GEMMTUNE_POINTERS,            \
      AlgorithmChoice::cublas)
GEMMTUNE_SGEMM_EX(cublasSgemmEx, int)
GEMMTUNE_SGEMM_EX(cublasSgemmEx_64, int64_t)

#define GEMMTUNE_GEMM_EX(NAME, INT)                                                               \
  GEMMTUNE_PRODUCT(                                                                               \
      NAME,                                                                                       \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const void* alpha, const void* a,                 \
       ElementType a_type, INT lda, const void* b, ElementType b_type, INT ldb, const void* beta, \
       void* c, ElementType c_type, INT ldc, ComputeType compute, Algorithm algorithm),           \
      (handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,  \
       compute, algorithm),                                                                       \
      address_bits(a, b, c), beta, scale_type_of(compute),                                        \
      GEMMTUNE_FORM.types(a_type, b_type, c_type, compute), GEMMTUNE_POINTERS,                    \
      choice_of(algorithm))
GEMMTUNE_GEMM_EX(cublasGemmEx, int)
GEMMTUNE_GEMM_EX(cublasGemmEx_64, int64_t)

#define GEMMTUNE_GEMM_STRIDED_EX(NAME, INT)                                                    \
  GEMMTUNE_PRODUCT(                                                                            \
      NAME,                                                                                    \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const void* alpha, const void* a,              \
       ElementType a_type, INT lda, long long stride_a, const void* b, ElementType b_type,     \
       INT ldb, long long stride_b, const void* beta, void* c, ElementType c_type, INT ldc,    \
       long long stride_c, INT batch, ComputeType compute, Algorithm algorithm),               \
      (handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, stride_a, b, b_type, ldb, stride_b, \
       beta, c, c_type, ldc, stride_c, batch, compute, algorithm),                             \
      address_bits(a, b, c), beta, scale_type_of(compute),                                     \
      GEMMTUNE_FORM.strides(stride_a, stride_b, stride_c, batch)                               \
          .types(a_type, b_type, c_type, compute),                                             \
      GEMMTUNE_POINTERS, choice_of(algorithm))
GEMMTUNE_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
GEMMTUNE_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)

#define GEMMTUNE_GEMM_BATCHED_EX(NAME, INT)                                                      \
  GEMMTUNE_PRODUCT(                                                                              \
      NAME,                                                                                      \
      (Handle handle, GEMMTUNE_OPERATIONS(INT), const void* alpha, const void* const* a,         \
       ElementType a_type, INT lda, const void* const* b, ElementType b_type, INT ldb,           \
       const void* beta, void* const* c, ElementType c_type, INT ldc, INT batch,                 \
       ComputeType compute, Algorithm algorithm),                                                \
      (handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, \
       batch, compute, algorithm),                                                               \
      0, nullptr, scale_type_of(compute),                                                        \
      GEMMTUNE_FORM.strides(0, 0, 0, batch)                                                      \
          .types(a_type, b_type, c_type, compute)                                                \
          .odd(Oddity::pointer_array),                                                           \
      kNoPointers, choice_of(algorithm))
GEMMTUNE_GEMM_BATCHED_EX(cublasGemmBatchedEx, int)
GEMMTUNE_GEMM_BATCHED_EX(cublasGemmBatchedEx_64, int64_t)

#define GEMMTUNE_GEMM_GROUPED_EX(NAME, INT)                                                       \
  GEMMTUNE_PRODUCT(NAME,                                                                          \
                   (Handle handle, const Transpose* op_a, const Transpose* op_b, const INT* m,    \
                    const INT* n, const INT* k, const void* alpha, const void* const* a,          \
                    ElementType a_type, const INT* lda, const void* const* b, ElementType b_type, \
                    const INT* ldb, const void* beta, void* const* c, ElementType c_type,         \
                    const INT* ldc, INT groups, const INT* group_sizes, ComputeType compute),     \
                   (handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c,  \
                    c_type, ldc, groups, group_sizes, compute),                                   \
                   0, nullptr, scale_type_of(compute),                                            \
                   Form().types(a_type, b_type, c_type, compute).odd(Oddity::grouped),            \
                   kNoPointers, AlgorithmChoice::cublas)
GEMMTUNE_GEMM_GROUPED_EX(cublasGemmGroupedBatchedEx, int)
GEMMTUNE_GEMM_GROUPED_EX(cublasGemmGroupedBatchedEx_64, int64_t)

// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gemmtune::cublas_preload
