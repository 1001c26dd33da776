#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/elements.h"
#include "vendor/algorithm_names.h"
#include "vendor/column_major.h"
#include "vendor/cublaslt_internal.h"

namespace gemmtune::vendor {

struct MatmulPlan::Impl {
  std::shared_ptr<const CublasLt::Handle> handle;  // outlives the descriptors below
  MatmulTypes types;
  lt::Epilogue epilogue = lt::Epilogue::none;
  bool has_bias = false;
  Scale scale = kNoScale;
  bool device_scalars = false;
  ColumnMajorGemm gemm;
  // Addresses that the operation has, where there are any. They change from call to call.
  struct Addresses {
    const void* bias = nullptr;
    const void* first_scale = nullptr;
    const void* second_scale = nullptr;
  };
  std::mutex addresses_mutex;
  Addresses described;
  Descriptor<lt::Operation> operation;
  Descriptor<lt::Layout> first;
  Descriptor<lt::Layout> second;
  Descriptor<lt::Layout> result;
  std::vector<lt::Choice> algorithms;

  const CublasLtLibrary::Impl& api() const { return handle->api(); }
  const lt::Choice* find(int index) const {
    if (index < 0 || index >= static_cast<int>(algorithms.size())) return nullptr;
    return &algorithms[static_cast<size_t>(index)];
  }
  Expected<void> describe_operation();
  Expected<void> describe_epilogue();
  Expected<void> describe_scales();
  gpu::Result<void> describe(lt::OperationAttribute attribute, const void* address,
                             const void*& described_address);
  gpu::Result<void> describe(const Addresses& addresses);
  Addresses addresses_of(const MatmulArgs& args) const;
  Expected<Descriptor<lt::Layout>> describe_matrix(const ColumnMajorMatrix& matrix,
                                                   lt::ElementType type) const;
  Expected<void> describe_operands();
  Expected<void> ask_heuristic(int align_bytes, const PlanOptions& options);
  lt::Status multiply(const lt::Choice& algorithm, CUstream stream, const MatmulArgs& args) const;
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
int config(const Api& api, const lt::Algorithm& algorithm, lt::ConfigAttribute attribute) {
  Value value{};
  size_t written = 0;
  if (api.config_get(&algorithm, attribute, &value, sizeof(value), &written) !=
      lt::Status::success) {
    return 0;
  }
  return static_cast<int>(value);
}

// alpha or beta in the type the product wants them in.
struct Scalar {
  alignas(4) std::byte bytes[4];
};

Scalar scalar(float value, lt::ElementType type) {
  Scalar scalar{};
  if (type == lt::ElementType::f16) {
    const uint16_t half = f16_bits(value);
    std::memcpy(scalar.bytes, &half, sizeof(half));
  } else if (type == lt::ElementType::i32) {
    const int32_t whole = i32_element(value);
    std::memcpy(scalar.bytes, &whole, sizeof(whole));
  } else {
    std::memcpy(scalar.bytes, &value, sizeof(value));
  }
  return scalar;
}

// What the scales of the problem's A and B are to cuBLASLt.
struct ScaleModes {
  lt::ScaleMode a;
  lt::ScaleMode b;
};

ScaleModes modes_of(Scale scale) {
  using Mode = lt::ScaleMode;
  switch (scale) {
    case kScalePerRow:
      return {Mode::outer_vector, Mode::outer_vector};
    case kScale1x128:
      return {Mode::vec128, Mode::vec128};
    case kScale1x128By128x128:
      return {Mode::vec128, Mode::blk128x128};
    case kScale128x128By1x128:
      return {Mode::blk128x128, Mode::vec128};
    case kScalePerTensor:
    case kNoScale:
      break;
  }
  return {Mode::scalar, Mode::scalar};
}

// What the heuristic sees of addresses that are to come. It reads nothing there.
const void* address_to_come() {
  return reinterpret_cast<const void*>(kBiasAlignment);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

Expected<void> MatmulPlan::Impl::describe_operation() {
  lt::Operation made = nullptr;
  if (auto created = api().check(api().operation_create(&made, types.compute, types.scalar),
                                 "describing the product");
      !created) {
    return tl::unexpected(created.error());
  }
  operation = {made, {api().operation_destroy}};
  const auto op = [](const ColumnMajorMatrix& matrix) {
    return matrix.transposed ? lt::Transpose::yes : lt::Transpose::no;
  };
  if (auto set = Attributes(api(), api().operation_set, operation.get())
                     .set(lt::OperationAttribute::transpose_a, op(gemm.first))
                     .set(lt::OperationAttribute::transpose_b, op(gemm.second))
                     .set(lt::OperationAttribute::pointer_mode,
                          device_scalars ? lt::PointerMode::device : lt::PointerMode::host)
                     .result();
      !set) {
    return set;
  }
  if (types.fast_sums) {
    auto set = Attributes(api(), api().operation_set, operation.get())
                   .set(lt::OperationAttribute::fast_sums, int8_t{1})
                   .result();
    if (!set) return set;
  }
  if (scale != kNoScale) {
    if (auto set = describe_scales(); !set) return set;
  }
  return epilogue == lt::Epilogue::none ? Expected<void>() : describe_epilogue();
}

// A cuBLASLt that has no scales of rows or blocks knows no such mode.
Expected<void> MatmulPlan::Impl::describe_scales() {
  described.first_scale = described.second_scale = address_to_come();
  auto attributes = Attributes(api(), api().operation_set, operation.get());
  attributes.set(lt::OperationAttribute::a_scale, described.first_scale)
      .set(lt::OperationAttribute::b_scale, described.second_scale);
  if (scale != kScalePerTensor && attributes.result()) {
    const ScaleModes modes = modes_of(scale);
    attributes.set(lt::OperationAttribute::a_scale_mode, gemm.swapped ? modes.b : modes.a)
        .set(lt::OperationAttribute::b_scale_mode, gemm.swapped ? modes.a : modes.b);
    if (!attributes.result())
      return make_error(ErrorKind::unsupported, "this cuBLASLt has no scales of rows or blocks");
  }
  return attributes.result();
}

Expected<void> MatmulPlan::Impl::describe_epilogue() {
  auto attributes = Attributes(api(), api().operation_set, operation.get());
  attributes.set(lt::OperationAttribute::epilogue, epilogue);
  if (!has_bias) return attributes.result();
  described.bias = address_to_come();  // no better aligned than those
  return attributes.set(lt::OperationAttribute::bias_type, types.result)
      .set(lt::OperationAttribute::bias_pointer, described.bias)
      .result();
}

gpu::Result<void> MatmulPlan::Impl::describe(lt::OperationAttribute attribute, const void* address,
                                             const void*& described_address) {
  if (described_address == address) return {};
  described_address = nullptr;
  auto set = api().check(api().operation_set(operation.get(), attribute, &address, sizeof(address)),
                         "describing the product");
  if (set) described_address = address;
  return set;
}

// Under the mutex.
gpu::Result<void> MatmulPlan::Impl::describe(const Addresses& addresses) {
  using Attribute = lt::OperationAttribute;
  auto set = describe(Attribute::bias_pointer, addresses.bias, described.bias);
  if (set) set = describe(Attribute::a_scale, addresses.first_scale, described.first_scale);
  if (set) set = describe(Attribute::b_scale, addresses.second_scale, described.second_scale);
  return set;
}

MatmulPlan::Impl::Addresses MatmulPlan::Impl::addresses_of(const MatmulArgs& args) const {
  Addresses addresses;
  if (has_bias) addresses.bias = args.bias;
  if (scale != kNoScale) {
    addresses.first_scale = gemm.swapped ? args.scale_b : args.scale_a;
    addresses.second_scale = gemm.swapped ? args.scale_a : args.scale_b;
  }
  return addresses;
}

Expected<Descriptor<lt::Layout>> MatmulPlan::Impl::describe_matrix(const ColumnMajorMatrix& matrix,
                                                                   lt::ElementType type) const {
  lt::Layout made = nullptr;
  if (auto created =
          api().check(api().layout_create(&made, type, static_cast<uint64_t>(matrix.rows),
                                          static_cast<uint64_t>(matrix.columns), matrix.ld),
                      "describing an operand");
      !created) {
    return tl::unexpected(created.error());
  }
  Descriptor<lt::Layout> layout(made, {api().layout_destroy});
  if (auto set = Attributes(api(), api().layout_set, layout.get())
                     .set(lt::LayoutAttribute::batch_count, static_cast<int32_t>(gemm.batch))
                     .set(lt::LayoutAttribute::batch_stride, matrix.stride)
                     .result();
      !set) {
    return tl::unexpected(set.error());
  }
  return layout;
}

Expected<void> MatmulPlan::Impl::describe_operands() {
  struct Operand {
    const ColumnMajorMatrix& matrix;
    lt::ElementType type;
    Descriptor<lt::Layout>& target;
  };
  const Operand operands[] = {{gemm.first, types.operand, first},
                              {gemm.second, types.operand, second},
                              {gemm.result, types.result, result}};
  for (const auto& [matrix, type, target] : operands) {
    auto layout = describe_matrix(matrix, type);
    if (!layout) return tl::unexpected(layout.error());
    target = std::move(*layout);
  }
  return {};
}

Expected<void> MatmulPlan::Impl::ask_heuristic(int align_bytes, const PlanOptions& options) {
  lt::Preference made = nullptr;
  if (auto created = api().check(api().preference_create(&made), "describing a preference");
      !created) {
    return tl::unexpected(created.error());
  }
  const Descriptor<lt::Preference> preference(made, {api().preference_destroy});
  const auto alignment = static_cast<uint32_t>(align_bytes);
  if (auto set = Attributes(api(), api().preference_set, preference.get())
                     .set(lt::PreferenceAttribute::max_workspace_bytes,
                          static_cast<uint64_t>(options.max_workspace_bytes))
                     .set(lt::PreferenceAttribute::min_alignment_a, alignment)
                     .set(lt::PreferenceAttribute::min_alignment_b, alignment)
                     .set(lt::PreferenceAttribute::min_alignment_c, alignment)
                     .set(lt::PreferenceAttribute::min_alignment_d, alignment)
                     .result();
      !set) {
    return set;
  }
  algorithms.resize(static_cast<size_t>(std::max(1, options.max_algorithms)));
  int returned = 0;
  const lt::Status status = api().get_heuristic(
      handle->value, operation.get(), first.get(), second.get(), result.get(), result.get(),
      preference.get(), static_cast<int>(algorithms.size()), algorithms.data(), &returned);
  algorithms.resize(static_cast<size_t>(std::max(0, returned)));
  std::erase_if(algorithms,
                [](const auto& algorithm) { return algorithm.status != lt::Status::success; });
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
  if (auto known = check_types(problem); !known) return tl::unexpected(known.error());
  const auto epilogue = matmul_epilogue(problem);
  if (!epilogue) return tl::unexpected(epilogue.error());
  const auto scope = handle_->context->enter();
  if (!scope) return tl::unexpected(scope.error());
  auto impl = std::make_unique<MatmulPlan::Impl>();
  impl->handle = handle_;
  impl->types = matmul_types(problem);
  impl->epilogue = *epilogue;
  impl->has_bias = problem.epilogue.bias != kNoBias;
  impl->scale = problem.epilogue.scale;
  impl->device_scalars = options.device_scalars;
  if (options.device_scalars && impl->types.scalar != lt::ElementType::f32) {
    return make_error(ErrorKind::unsupported,
                      "cuBLASLt takes scalars in device memory in the type of the sums only");
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
  return algorithm == nullptr ? 0 : static_cast<int64_t>(algorithm->workspace_bytes);
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
  const lt::Algorithm& algorithm = found->algorithm;
  const auto number = [&](lt::ConfigAttribute attribute) {
    return std::to_string(config<uint32_t>(api, algorithm, attribute));
  };
  return "algo=" +
         std::to_string(config<int32_t>(api, algorithm, lt::ConfigAttribute::algorithm_id)) +
         " tile=" + tile_name(config<uint32_t>(api, algorithm, lt::ConfigAttribute::tile_id)) +
         " stages=" +
         stages_name(config<uint32_t>(api, algorithm, lt::ConfigAttribute::stages_id)) +
         " cluster=" +
         cluster_name(config<uint16_t>(api, algorithm, lt::ConfigAttribute::cluster_shape_id)) +
         " splitk=" + number(lt::ConfigAttribute::split_k) +
         " reduction=" + number(lt::ConfigAttribute::reduction_scheme) +
         " swizzle=" + number(lt::ConfigAttribute::cta_swizzling) +
         " custom=" + number(lt::ConfigAttribute::custom_option);
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
  const auto check = [&](lt::Status status) {
    return impl_->api().check(status, "running a product");
  };
  const bool is_scaled = impl_->scale != kNoScale;
  if (!impl_->has_bias && !is_scaled) return check(impl_->multiply(*algorithm, stream, args));
  if (impl_->has_bias &&
      (args.bias == nullptr || reinterpret_cast<uintptr_t>(args.bias) % kBiasAlignment != 0)) {
    return gpu::cuda_error(ErrorKind::usage,
                           "cuBLASLt: the address of a bias must be a multiple of 16 bytes");
  }
  if (is_scaled && (args.scale_a == nullptr || args.scale_b == nullptr))
    return gpu::cuda_error(ErrorKind::usage, "cuBLASLt: scaled operands need their scales");
  // Addresses are part of the operation, which threads share; they are read before matmul returns.
  const std::lock_guard lock(impl_->addresses_mutex);
  if (auto described = impl_->describe(impl_->addresses_of(args)); !described) return described;
  return check(impl_->multiply(*algorithm, stream, args));
}

lt::Status MatmulPlan::Impl::multiply(const lt::Choice& algorithm, CUstream stream,
                                      const MatmulArgs& args) const {
  const Scalar alpha = scalar(args.alpha, types.scalar);
  const Scalar beta = scalar(args.beta, types.scalar);
  const void* alpha_at = alpha.bytes;
  const void* beta_at = beta.bytes;
  if (device_scalars) {
    alpha_at = args.alpha_device;
    beta_at = args.beta_device;
  }
  return api().matmul(handle->value, operation.get(), alpha_at, gemm.swapped ? args.b : args.a,
                      first.get(), gemm.swapped ? args.a : args.b, second.get(), beta_at, args.c,
                      result.get(), args.c, result.get(), &algorithm.algorithm, args.workspace,
                      algorithm.workspace_bytes, stream);
}

}  // namespace gemmtune::vendor
