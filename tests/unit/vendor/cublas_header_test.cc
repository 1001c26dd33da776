// Our declarations of cuBLAS, and the list of the functions that libgemmtune_cublas takes, against
// its own header; built where that is installed.
#include <cublasLt.h>
#include <cublas_api.h>
#include <doctest/doctest.h>

#include <type_traits>

#include "cublas_preload/entry_list.h"

using namespace gemmtune;  // NOLINT(google-build-using-namespace)

namespace {

// --- Signatures ----------------------------------------------------------------------------------

// Theirs for each type of ours.
template <class Ours>
struct TheirType {
  using Type = Ours;
};
template <class Ours>
using Their = typename TheirType<Ours>::Type;
template <class Ours>
struct TheirType<Ours*> {
  using Type = Their<Ours>*;
};
template <class Ours>
struct TheirType<const Ours> {
  using Type = const Their<Ours>;
};

namespace blas = vendor::blas;
namespace lt = vendor::lt;
#define GEMMTUNE_THEIR(ours, theirs)               \
  template <>                                      \
  struct TheirType<ours> {                         \
    using Type = theirs;                           \
    static_assert(sizeof(ours) == sizeof(theirs)); \
  };
GEMMTUNE_THEIR(blas::Handle, cublasHandle_t)
GEMMTUNE_THEIR(blas::Half, __half)
GEMMTUNE_THEIR(blas::Algorithm, cublasGemmAlgo_t)
GEMMTUNE_THEIR(blas::MathMode, cublasMath_t)
GEMMTUNE_THEIR(blas::EmulationStrategy, cublasEmulationStrategy_t)
GEMMTUNE_THEIR(lt::PointerMode, cublasPointerMode_t)
GEMMTUNE_THEIR(lt::Transpose, cublasOperation_t)
GEMMTUNE_THEIR(lt::ElementType, cudaDataType_t)
GEMMTUNE_THEIR(lt::ComputeType, cublasComputeType_t)
GEMMTUNE_THEIR(lt::Handle, cublasLtHandle_t)
GEMMTUNE_THEIR(lt::Layout, cublasLtMatrixLayout_t)
GEMMTUNE_THEIR(lt::Operation, cublasLtMatmulDesc_t)
GEMMTUNE_THEIR(lt::Preference, cublasLtMatmulPreference_t)
GEMMTUNE_THEIR(lt::PreferenceAttribute, cublasLtMatmulPreferenceAttributes_t)
GEMMTUNE_THEIR(lt::Choice, cublasLtMatmulHeuristicResult_t)
GEMMTUNE_THEIR(lt::LayoutAttribute, cublasLtMatrixLayoutAttribute_t)
GEMMTUNE_THEIR(lt::OperationAttribute, cublasLtMatmulDescAttributes_t)
GEMMTUNE_THEIR(lt::Algorithm, cublasLtMatmulAlgo_t)

template <class Ours>
struct TheirSignature;
template <class... Ours>
struct TheirSignature<lt::Status(Ours...)> {
  using Type = cublasStatus_t(Their<Ours>...);
};

// Chosen among overloads, which some have in C++.
#define GEMMTUNE_CHECK_SIGNATURE(name, ...) \
  static_assert(static_cast<TheirSignature<__VA_ARGS__>::Type*>(&::name) != nullptr, #name);
using cublas_preload::Products32;
using cublas_preload::Products64;
GEMMTUNE_CUBLAS_PRODUCTS(GEMMTUNE_CHECK_SIGNATURE)
GEMMTUNE_CUBLAS_SETTINGS(GEMMTUNE_CHECK_SIGNATURE)
GEMMTUNE_CUBLAS_QUESTIONS(GEMMTUNE_CHECK_SIGNATURE)
GEMMTUNE_CUBLASLT_TAKEN(GEMMTUNE_CHECK_SIGNATURE)
GEMMTUNE_CHECK_SIGNATURE(cublasLtMatrixLayoutInit_internal, lt::Functions::layout_init)
GEMMTUNE_CHECK_SIGNATURE(cublasLtMatmulDescInit_internal, lt::Functions::operation_init)
GEMMTUNE_CUBLASLT_QUESTIONS(GEMMTUNE_CHECK_SIGNATURE)

// --- Values
// ---------------------------------------------------------------------------------------

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}

using vendor::blas::MathMode;
static_assert(same(MathMode::standard, CUBLAS_DEFAULT_MATH));
static_assert(same(MathMode::tensor, CUBLAS_TENSOR_OP_MATH));
static_assert(same(MathMode::pedantic, CUBLAS_PEDANTIC_MATH));
static_assert(same(MathMode::tf32, CUBLAS_TF32_TENSOR_OP_MATH));
static_assert(same(vendor::blas::kFullPrecisionReduction,
                   CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
using vendor::blas::EmulationStrategy;
static_assert(same(EmulationStrategy::by_default, CUBLAS_EMULATION_STRATEGY_DEFAULT));
static_assert(same(EmulationStrategy::where_faster, CUBLAS_EMULATION_STRATEGY_PERFORMANT));
static_assert(same(EmulationStrategy::always, CUBLAS_EMULATION_STRATEGY_EAGER));
static_assert(same(vendor::lt::Order::column_major, CUBLASLT_ORDER_COL));
static_assert(same(vendor::lt::Order::row_major, CUBLASLT_ORDER_ROW));

using vendor::lt::LayoutAttribute;
static_assert(same(LayoutAttribute::type, CUBLASLT_MATRIX_LAYOUT_TYPE));
static_assert(same(LayoutAttribute::order, CUBLASLT_MATRIX_LAYOUT_ORDER));
static_assert(same(LayoutAttribute::rows, CUBLASLT_MATRIX_LAYOUT_ROWS));
static_assert(same(LayoutAttribute::columns, CUBLASLT_MATRIX_LAYOUT_COLS));
static_assert(same(LayoutAttribute::ld, CUBLASLT_MATRIX_LAYOUT_LD));
static_assert(same(LayoutAttribute::plane_offset, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET));

using vendor::lt::OperationAttribute;
static_assert(same(OperationAttribute::compute_type, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE));
static_assert(same(OperationAttribute::scale_type, CUBLASLT_MATMUL_DESC_SCALE_TYPE));
static_assert(same(OperationAttribute::transpose_c, CUBLASLT_MATMUL_DESC_TRANSC));
static_assert(same(OperationAttribute::sm_count, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET));
static_assert(same(OperationAttribute::fast_sums, CUBLASLT_MATMUL_DESC_FAST_ACCUM));

TEST_CASE("cuBLAS's header agrees") {
  // Checked by compiling.
}

}  // namespace
