// Our declarations of cuBLASLt against its own header; built where that is installed.
#include <cublasLt.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>

#include "vendor/algorithm_names.h"
#include "vendor/cublaslt_api.h"

using namespace gemmtune::vendor;  // NOLINT(google-build-using-namespace)

namespace {

// --- Values --------------------------------------------------------------------------------------

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return sizeof(Ours) == sizeof(Theirs) && static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(same(lt::Status::success, CUBLAS_STATUS_SUCCESS));
static_assert(same(lt::Status::allocation_failed, CUBLAS_STATUS_ALLOC_FAILED));
static_assert(same(lt::Status::invalid_value, CUBLAS_STATUS_INVALID_VALUE));
static_assert(same(lt::Status::arch_mismatch, CUBLAS_STATUS_ARCH_MISMATCH));
static_assert(same(lt::Status::execution_failed, CUBLAS_STATUS_EXECUTION_FAILED));
static_assert(same(lt::Status::not_supported, CUBLAS_STATUS_NOT_SUPPORTED));

static_assert(same(lt::ElementType::f32, CUDA_R_32F));
static_assert(same(lt::ElementType::f16, CUDA_R_16F));
static_assert(same(lt::ElementType::bf16, CUDA_R_16BF));
static_assert(same(lt::ElementType::e4m3, CUDA_R_8F_E4M3));
static_assert(same(lt::ElementType::e5m2, CUDA_R_8F_E5M2));
static_assert(same(lt::ElementType::i8, CUDA_R_8I));
static_assert(same(lt::ElementType::i32, CUDA_R_32I));

static_assert(same(lt::ComputeType::f16, CUBLAS_COMPUTE_16F));
static_assert(same(lt::ComputeType::f32, CUBLAS_COMPUTE_32F));
static_assert(same(lt::ComputeType::i32, CUBLAS_COMPUTE_32I));
static_assert(same(lt::ComputeType::f32_fast_f16, CUBLAS_COMPUTE_32F_FAST_16F));
static_assert(same(lt::ComputeType::f32_fast_tf32, CUBLAS_COMPUTE_32F_FAST_TF32));

static_assert(same(lt::Transpose::no, CUBLAS_OP_N));
static_assert(same(lt::Transpose::yes, CUBLAS_OP_T));
static_assert(same(lt::PointerMode::host, CUBLASLT_POINTER_MODE_HOST));
static_assert(same(lt::PointerMode::device, CUBLASLT_POINTER_MODE_DEVICE));

static_assert(same(lt::Epilogue::none, CUBLASLT_EPILOGUE_DEFAULT));
static_assert(same(lt::Epilogue::relu, CUBLASLT_EPILOGUE_RELU));
static_assert(same(lt::Epilogue::bias, CUBLASLT_EPILOGUE_BIAS));
static_assert(same(lt::Epilogue::relu_bias, CUBLASLT_EPILOGUE_RELU_BIAS));
static_assert(same(lt::Epilogue::gelu, CUBLASLT_EPILOGUE_GELU));
static_assert(same(lt::Epilogue::gelu_bias, CUBLASLT_EPILOGUE_GELU_BIAS));

static_assert(same(lt::LayoutAttribute::batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
static_assert(same(lt::LayoutAttribute::batch_stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));

static_assert(same(lt::OperationAttribute::pointer_mode, CUBLASLT_MATMUL_DESC_POINTER_MODE));
static_assert(same(lt::OperationAttribute::transpose_a, CUBLASLT_MATMUL_DESC_TRANSA));
static_assert(same(lt::OperationAttribute::transpose_b, CUBLASLT_MATMUL_DESC_TRANSB));
static_assert(same(lt::OperationAttribute::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE));
static_assert(same(lt::OperationAttribute::bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER));
static_assert(same(lt::OperationAttribute::bias_type, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE));
static_assert(same(lt::OperationAttribute::a_scale, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER));
static_assert(same(lt::OperationAttribute::b_scale, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER));
#if CUBLAS_VERSION >= 120900
static_assert(same(lt::OperationAttribute::a_scale_mode, CUBLASLT_MATMUL_DESC_A_SCALE_MODE));
static_assert(same(lt::OperationAttribute::b_scale_mode, CUBLASLT_MATMUL_DESC_B_SCALE_MODE));
static_assert(same(lt::ScaleMode::scalar, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F));
static_assert(same(lt::ScaleMode::outer_vector, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F));
static_assert(same(lt::ScaleMode::vec128, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F));
static_assert(same(lt::ScaleMode::blk128x128, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F));
#endif

using Preferred = lt::PreferenceAttribute;
static_assert(same(Preferred::max_workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
static_assert(same(Preferred::min_alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
static_assert(same(Preferred::min_alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES));
static_assert(same(Preferred::min_alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES));
static_assert(same(Preferred::min_alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));

static_assert(same(lt::ConfigAttribute::algorithm_id, CUBLASLT_ALGO_CONFIG_ID));
static_assert(same(lt::ConfigAttribute::tile_id, CUBLASLT_ALGO_CONFIG_TILE_ID));
static_assert(same(lt::ConfigAttribute::split_k, CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
static_assert(same(lt::ConfigAttribute::reduction_scheme, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME));
static_assert(same(lt::ConfigAttribute::cta_swizzling, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING));
static_assert(same(lt::ConfigAttribute::custom_option, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION));
static_assert(same(lt::ConfigAttribute::stages_id, CUBLASLT_ALGO_CONFIG_STAGES_ID));
static_assert(same(lt::ConfigAttribute::cluster_shape_id, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));

// --- Structures ----------------------------------------------------------------------------------

static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(alignof(lt::Algorithm) == alignof(cublasLtMatmulAlgo_t));

using TheirChoice = cublasLtMatmulHeuristicResult_t;
static_assert(sizeof(lt::Choice) == sizeof(TheirChoice));
static_assert(alignof(lt::Choice) == alignof(TheirChoice));
static_assert(offsetof(lt::Choice, algorithm) == offsetof(TheirChoice, algo));
static_assert(offsetof(lt::Choice, workspace_bytes) == offsetof(TheirChoice, workspaceSize));
static_assert(offsetof(lt::Choice, status) == offsetof(TheirChoice, state));
static_assert(offsetof(lt::Choice, waves) == offsetof(TheirChoice, wavesCount));
static_assert(sizeof(lt::Choice::workspace_bytes) == sizeof(TheirChoice::workspaceSize));

// --- Functions -----------------------------------------------------------------------------------

// What a type of ours stands for in the header.
template <class Ours>
struct Theirs {
  using Type = Ours;
};
template <class Ours>
using TheirsOf = typename Theirs<Ours>::Type;
template <class Ours>
struct Theirs<Ours*> {
  using Type = TheirsOf<Ours>*;
};
template <class Ours>
struct Theirs<const Ours> {
  using Type = const TheirsOf<Ours>;
};
template <class Result, class... Parameters>
struct Theirs<Result(Parameters...)> {
  using Type = TheirsOf<Result>(TheirsOf<Parameters>...);
};
#define GEMMTUNE_STANDS_FOR(ours, theirs) \
  template <>                             \
  struct Theirs<ours> {                   \
    using Type = theirs;                  \
  }
GEMMTUNE_STANDS_FOR(lt::Status, cublasStatus_t);
GEMMTUNE_STANDS_FOR(lt::ElementType, cudaDataType_t);
GEMMTUNE_STANDS_FOR(lt::ComputeType, cublasComputeType_t);
GEMMTUNE_STANDS_FOR(lt::LayoutAttribute, cublasLtMatrixLayoutAttribute_t);
GEMMTUNE_STANDS_FOR(lt::OperationAttribute, cublasLtMatmulDescAttributes_t);
GEMMTUNE_STANDS_FOR(lt::PreferenceAttribute, cublasLtMatmulPreferenceAttributes_t);
GEMMTUNE_STANDS_FOR(lt::ConfigAttribute, cublasLtMatmulAlgoConfigAttributes_t);
GEMMTUNE_STANDS_FOR(lt::HandleState, std::remove_pointer_t<cublasLtHandle_t>);
GEMMTUNE_STANDS_FOR(lt::LayoutState, std::remove_pointer_t<cublasLtMatrixLayout_t>);
GEMMTUNE_STANDS_FOR(lt::OperationState, std::remove_pointer_t<cublasLtMatmulDesc_t>);
GEMMTUNE_STANDS_FOR(lt::PreferenceState, std::remove_pointer_t<cublasLtMatmulPreference_t>);
GEMMTUNE_STANDS_FOR(lt::Algorithm, cublasLtMatmulAlgo_t);
GEMMTUNE_STANDS_FOR(lt::Choice, TheirChoice);
#undef GEMMTUNE_STANDS_FOR

#define GEMMTUNE_CHECK_ENTRY(member, symbol) \
  static_assert(std::is_same_v<TheirsOf<lt::Functions::member>, decltype(symbol)>, #symbol);
GEMMTUNE_CUBLASLT_ENTRIES(GEMMTUNE_CHECK_ENTRY)
#undef GEMMTUNE_CHECK_ENTRY

}  // namespace

// The names are generated from the pattern that the header's list follows: check the ends of each
// run and ids from all over against the header.
TEST_CASE("tile ids have the header's names") {
#define CHECK_TILE(size) CHECK(tile_name(CUBLASLT_MATMUL_TILE_##size) == #size)
  CHECK_TILE(8x8);
  CHECK_TILE(128x128);
  CHECK_TILE(128x256);
  CHECK_TILE(256x128);
  CHECK_TILE(160x128);
  CHECK_TILE(256x32);
#if CUBLAS_VER_MAJOR >= 13  // older headers end here
  CHECK_TILE(8x128);
  CHECK_TILE(32x192);
  CHECK_TILE(64x768);
  CHECK_TILE(72x640);
  CHECK_TILE(128x384);
  CHECK_TILE(640x64);
  CHECK_TILE(768x64);
  CHECK_TILE(64x16);
  CHECK_TILE(128x392);
  CHECK_TILE(128x208);
  CHECK_TILE(256x248);
  CHECK_TILE(192x328);
  CHECK_TILE(768x80);
  CHECK_TILE(256x512);
  CHECK_TILE(512x1024);
#endif
#undef CHECK_TILE
}

TEST_CASE("stage and cluster ids have the header's names") {
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_UNDEFINED) == "auto");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_16x1) == "16x1");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_64x4) == "64x4");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_128x6) == "128x6");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_8x3) == "8x3");
  CHECK(stages_name(CUBLASLT_MATMUL_STAGES_64xAUTO) == "64xauto");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_AUTO) == "auto");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_2x1x1) == "2x1x1");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_1x16x1) == "1x16x1");
  CHECK(cluster_name(CUBLASLT_CLUSTER_SHAPE_7x1x1) == "7x1x1");
}
