#include <algorithm>
#include <cstring>
#include <utility>

#include "core/elements.h"
#include "vendor/algorithm_names.h"
#include "vendor/column_major.h"
#include "vendor/cublaslt_internal.h"

namespace gemmtune::vendor {

MatmulTypes matmul_types(const Problem& problem) {
  MatmulTypes types;
  switch (problem.type) {
    case DataType::f32:
      types.operand = CUDA_R_32F;
      break;
    case DataType::f16:
      types.operand = CUDA_R_16F;
      break;
    case DataType::bf16:
      types.operand = CUDA_R_16BF;
      break;
  }
  if (problem.math == MathMode::tf32) types.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (problem.math == MathMode::f16) types.compute = CUBLAS_COMPUTE_32F_FAST_16F;
  if (problem.accumulator == DataType::f16) {
    types.compute = CUBLAS_COMPUTE_16F;
    types.scalar = CUDA_R_16F;
  }
  return types;
}

struct MatmulPlan::Impl {
  std::shared_ptr<const CublasLt::Handle> handle;  // outlives the descriptors below
  MatmulTypes types;
  bool device_scalars = false;
  ColumnMajorGemm gemm;
  Descriptor<cublasLtMatmulDesc_t> operation;
  Descriptor<cublasLtMatrixLayout_t> first;
  Descriptor<cublasLtMatrixLayout_t> second;
  Descriptor<cublasLtMatrixLayout_t> result;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;

  const CublasLtLibrary::Impl& api() const { return handle->api(); }
  const cublasLtMatmulHeuristicResult_t* find(int index) const {
    if (index < 0 || index >= static_cast<int>(algorithms.size())) return nullptr;
    return &algorithms[static_cast<size_t>(index)];
  }
  Expected<void> describe_operation();
  Expected<Descriptor<cublasLtMatrixLayout_t>> describe_matrix(
      const ColumnMajorMatrix& matrix) const;
  Expected<void> describe_operands();
  Expected<void> ask_heuristic(int align_bytes, const PlanOptions& options);
};

namespace {

using Api = CublasLtLibrary::Impl;

// Sets the attributes of one descriptor one after the other, and keeps the first failure.
template <class Setter, class Pointer>
class Attributes {
 public:
  Attributes(const Api& api, Setter setter, Pointer target)
      : api_(api), setter_(setter), target_(target) {}

  template <class Attribute, class Value>
  Attributes& set(Attribute attribute, const Value& value) {
    if (result_) {
      result_ =
          api_.check(setter_(target_, attribute, &value, sizeof(value)), "describing the product");
    }
    return *this;
  }

  Expected<void> result() const {
    if (!result_) return tl::unexpected(result_.error());
    return {};
  }

 private:
  const Api& api_;
  Setter setter_;
  Pointer target_;
  gpu::Result<void> result_;
};

// A configuration value of an algorithm, 0 where the library does not know it.
template <class Value>
int config(const Api& api, const cublasLtMatmulAlgo_t& algorithm,
           cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  size_t written = 0;
  if (api.config_get(&algorithm, attribute, &value, sizeof(value), &written) !=
      CUBLAS_STATUS_SUCCESS) {
    return 0;
  }
  return static_cast<int>(value);
}

// alpha or beta in the type the product wants them in.
struct Scalar {
  alignas(4) std::byte bytes[4];
};

Scalar scalar(float value, cudaDataType_t type) {
  Scalar scalar{};
  if (type == CUDA_R_16F) {
    const uint16_t half = f16_bits(value);
    std::memcpy(scalar.bytes, &half, sizeof(half));
  } else {
    std::memcpy(scalar.bytes, &value, sizeof(value));
  }
  return scalar;
}

}  // namespace

Expected<void> MatmulPlan::Impl::describe_operation() {
  cublasLtMatmulDesc_t made = nullptr;
  if (auto created = api().check(api().desc_create(&made, types.compute, types.scalar),
                                 "describing the product");
      !created) {
    return tl::unexpected(created.error());
  }
  operation = {made, {api().desc_destroy}};
  const auto op = [](const ColumnMajorMatrix& matrix) {
    return static_cast<int32_t>(matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  };
  return Attributes(api(), api().desc_set, operation.get())
      .set(CUBLASLT_MATMUL_DESC_TRANSA, op(gemm.first))
      .set(CUBLASLT_MATMUL_DESC_TRANSB, op(gemm.second))
      .set(CUBLASLT_MATMUL_DESC_POINTER_MODE,
           static_cast<int32_t>(device_scalars ? CUBLASLT_POINTER_MODE_DEVICE
                                               : CUBLASLT_POINTER_MODE_HOST))
      .result();
}

Expected<Descriptor<cublasLtMatrixLayout_t>> MatmulPlan::Impl::describe_matrix(
    const ColumnMajorMatrix& matrix) const {
  cublasLtMatrixLayout_t made = nullptr;
  if (auto created =
          api().check(api().layout_create(&made, types.operand, static_cast<uint64_t>(matrix.rows),
                                          static_cast<uint64_t>(matrix.columns), matrix.ld),
                      "describing an operand");
      !created) {
    return tl::unexpected(created.error());
  }
  Descriptor<cublasLtMatrixLayout_t> layout(made, {api().layout_destroy});
  if (auto set = Attributes(api(), api().layout_set, layout.get())
                     .set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(gemm.batch))
                     .set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride)
                     .result();
      !set) {
    return tl::unexpected(set.error());
  }
  return layout;
}

Expected<void> MatmulPlan::Impl::describe_operands() {
  const std::pair<const ColumnMajorMatrix*, Descriptor<cublasLtMatrixLayout_t>*> operands[] = {
      {&gemm.first, &first}, {&gemm.second, &second}, {&gemm.result, &result}};
  for (const auto& [matrix, target] : operands) {
    auto layout = describe_matrix(*matrix);
    if (!layout) return tl::unexpected(layout.error());
    *target = std::move(*layout);
  }
  return {};
}

Expected<void> MatmulPlan::Impl::ask_heuristic(int align_bytes, const PlanOptions& options) {
  cublasLtMatmulPreference_t made = nullptr;
  if (auto created = api().check(api().preference_create(&made), "describing a preference");
      !created) {
    return tl::unexpected(created.error());
  }
  const Descriptor<cublasLtMatmulPreference_t> preference(made, {api().preference_destroy});
  const auto alignment = static_cast<uint32_t>(align_bytes);
  if (auto set = Attributes(api(), api().preference_set, preference.get())
                     .set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                          static_cast<uint64_t>(options.max_workspace_bytes))
                     .set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment)
                     .set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment)
                     .set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment)
                     .set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment)
                     .result();
      !set) {
    return set;
  }
  algorithms.resize(static_cast<size_t>(std::max(1, options.max_algorithms)));
  int returned = 0;
  const cublasStatus_t status = api().get_heuristic(
      handle->value, operation.get(), first.get(), second.get(), result.get(), result.get(),
      preference.get(), static_cast<int>(algorithms.size()), algorithms.data(), &returned);
  algorithms.resize(static_cast<size_t>(std::max(0, returned)));
  std::erase_if(algorithms,
                [](const auto& algorithm) { return algorithm.state != CUBLAS_STATUS_SUCCESS; });
  if (auto asked = api().check(status, "choosing an algorithm"); !asked) {
    return tl::unexpected(asked.error());
  }
  if (algorithms.empty()) {
    return make_error(ErrorKind::unsupported, "cuBLASLt has no algorithm for this problem");
  }
  return {};
}

Expected<MatmulPlan> CublasLt::plan(const Problem& problem, const PlanOptions& options) const {
  if (auto valid = validate(problem); !valid) return tl::unexpected(valid.error());
  const auto scope = handle_->context->enter();
  if (!scope) return tl::unexpected(scope.error());
  auto impl = std::make_unique<MatmulPlan::Impl>();
  impl->handle = handle_;
  impl->types = matmul_types(problem);
  impl->device_scalars = options.device_scalars;
  if (options.device_scalars && impl->types.scalar != CUDA_R_32F) {
    return make_error(ErrorKind::unsupported,
                      "cuBLASLt takes f16 scalars for sums in f16, not f32 ones in device memory");
  }
  impl->gemm = column_major(problem);
  if (auto done = impl->describe_operation(); !done) return tl::unexpected(done.error());
  if (auto done = impl->describe_operands(); !done) return tl::unexpected(done.error());
  if (auto done = impl->ask_heuristic(problem.align_bytes, options); !done) {
    return tl::unexpected(done.error());
  }
  return MatmulPlan(std::move(impl));
}

MatmulPlan::MatmulPlan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MatmulPlan::MatmulPlan(MatmulPlan&&) noexcept = default;
MatmulPlan& MatmulPlan::operator=(MatmulPlan&&) noexcept = default;
MatmulPlan::~MatmulPlan() = default;

int MatmulPlan::algorithms() const {
  return static_cast<int>(impl_->algorithms.size());
}

int64_t MatmulPlan::workspace_bytes(int index) const {
  const auto* algorithm = impl_->find(index);
  return algorithm == nullptr ? 0 : static_cast<int64_t>(algorithm->workspaceSize);
}

int64_t MatmulPlan::max_workspace_bytes() const {
  int64_t most = 0;
  for (int i = 0; i < algorithms(); ++i) most = std::max(most, workspace_bytes(i));
  return most;
}

std::string MatmulPlan::describe(int index) const {
  const auto* found = impl_->find(index);
  if (found == nullptr) return "no such algorithm";
  const Api& api = impl_->api();
  const cublasLtMatmulAlgo_t& algorithm = found->algo;
  const auto number = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
    return std::to_string(config<uint32_t>(api, algorithm, attribute));
  };
  return "algo=" + std::to_string(config<int32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_ID)) +
         " tile=" + tile_name(config<uint32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID)) +
         " stages=" +
         stages_name(config<uint32_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID)) +
         " cluster=" +
         cluster_name(config<uint16_t>(api, algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)) +
         " splitk=" + number(CUBLASLT_ALGO_CONFIG_SPLITK_NUM) +
         " reduction=" + number(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) +
         " swizzle=" + number(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING) +
         " custom=" + number(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION);
}

int MatmulPlan::find(std::string_view description) const {
  for (int i = 0; i < algorithms(); ++i) {
    if (describe(i) == description) return i;
  }
  return -1;
}

gpu::Result<void> MatmulPlan::run(int index, CUstream stream, const MatmulArgs& args) const {
  const auto* algorithm = impl_->find(index);
  if (algorithm == nullptr) {
    return gpu::cuda_error(ErrorKind::usage,
                           "cuBLASLt: no algorithm " + std::to_string(index) + " in this plan");
  }
  const int64_t needed = workspace_bytes(index);
  if (args.workspace_bytes < needed || (needed > 0 && args.workspace == nullptr)) {
    return gpu::cuda_error(ErrorKind::usage, "cuBLASLt: algorithm " + std::to_string(index) +
                                                 " needs a workspace of " + std::to_string(needed) +
                                                 " bytes, not " +
                                                 std::to_string(args.workspace_bytes));
  }
  if (impl_->handle->context->lost()) {
    return gpu::cuda_error(ErrorKind::failed, "cuBLASLt: the context was reset",
                           CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }
  const Scalar alpha = scalar(args.alpha, impl_->types.scalar);
  const Scalar beta = scalar(args.beta, impl_->types.scalar);
  const void* alpha_at = alpha.bytes;
  const void* beta_at = beta.bytes;
  if (impl_->device_scalars) {
    alpha_at = args.alpha_device;
    beta_at = args.beta_device;
  }
  const bool swapped = impl_->gemm.swapped;
  const cublasStatus_t status = impl_->api().matmul(
      impl_->handle->value, impl_->operation.get(), alpha_at, swapped ? args.b : args.a,
      impl_->first.get(), swapped ? args.a : args.b, impl_->second.get(), beta_at, args.c,
      impl_->result.get(), args.c, impl_->result.get(), &algorithm->algo, args.workspace,
      static_cast<size_t>(needed), stream);
  return impl_->api().check(status, "running a product");
}

}  // namespace gemmtune::vendor
