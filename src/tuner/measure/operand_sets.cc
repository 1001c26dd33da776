#include "tuner/measure/operand_sets.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/support_kernels.h"
#include "gpu/stream.h"
#include "jit/compile_again.h"

namespace gemmtune::tuner {
namespace {

constexpr int64_t kLine = 256;  // bytes; alignment of each operand
constexpr uint64_t kSeed = 20240229;
constexpr uint64_t kBiasSeed = 20240301;
constexpr uint64_t kScaleSeed = 20240302;
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// Bytes of an operand, shifted by the alignment it is given and rounded up to whole lines.
int64_t padded(int64_t bytes, int align_bytes) {
  return (bytes + align_bytes % kLine + kLine - 1) / kLine * kLine;
}

gpu::Result<void> fill_random(const std::shared_ptr<const gpu::Context>& context,
                              const jit::Compiler& compiler, Arch arch, DataType type,
                              uint64_t seed, const gpu::DeviceBuffer& buffer) {
  const codegen::KernelSource source = codegen::random_fill_source(type);
  const auto result = jit::compile_again(compiler, {source, arch, {}});
  if (!result) return gpu::cuda_error(ErrorKind::failed, result.error().message);
  const jit::CompileResult& compiled = *result;
  if (!compiled)
    return gpu::cuda_error(ErrorKind::failed,
                           "compiling random_fill: " + compiled.error().first_error);
  auto module = gpu::Module::load(context, compiled->cubin);
  if (!module) return tl::unexpected(module.error());
  auto function = module->function(source.entries.front());
  if (!function) return tl::unexpected(function.error());
  auto stream = gpu::Stream::create(context);
  if (!stream) return tl::unexpected(stream.error());
  auto entered = context->enter();
  if (!entered) return tl::unexpected(entered.error());
  const FillArgs args{buffer.data(), buffer.size_bytes() / static_cast<size_t>(size_bytes(type)),
                      seed};
  const LaunchConfig config{{1024, 1, 1}, {256, 1, 1}, {}, 0};
  if (auto launched = function->launch(config, stream->handle(), args); !launched) return launched;
  return stream->synchronize();
}

}  // namespace

SetPlan plan_sets(const Problem& problem, int64_t l2_bytes, bool warm) {
  SetPlan plan;
  plan.bytes_a = padded(bytes_a(problem), problem.align_bytes);
  plan.bytes_b = padded(bytes_b(problem), problem.align_bytes);
  plan.bytes_c = padded(bytes_c(problem), problem.align_bytes);
  plan.bytes_bias = padded(bias_elements(problem) * size_bytes(result_type(problem)), 0);
  const ScaleElements scales = scale_elements(problem);
  plan.bytes_scale_a = padded(scales.a * size_bytes(DataType::f32), 0);
  plan.bytes_scale_b = padded(scales.b * size_bytes(DataType::f32), 0);
  const int64_t one = plan.set_bytes();
  plan.sets = warm ? 1 : std::clamp<int64_t>((2 * l2_bytes + one - 1) / one, 1, kMaxSets);
  return plan;
}

Expected<void> check_memory(const Problem& problem, const SetPlan& plan, int64_t workspace_bytes,
                            int64_t free_bytes) {
  const int64_t needed = plan.total_bytes() + workspace_bytes;
  if (needed <= free_bytes) return {};
  return usage_error(fmt::format(
      "{} needs {:.1f} GiB of device memory for its operands, {:.1f} GiB are free; use a "
      "smaller shape or batch",
      to_string(problem.shape), static_cast<double>(needed) / kGib,
      static_cast<double>(free_bytes) / kGib));
}

gpu::Result<OperandSets> OperandSets::create(const std::shared_ptr<const gpu::Context>& context,
                                             const jit::Compiler& compiler, Arch arch,
                                             const Problem& problem, const SetPlan& plan,
                                             int64_t workspace_bytes) {
  const auto all_sets = [&](int64_t bytes) { return static_cast<size_t>(plan.sets * bytes); };
  auto memory = gpu::DeviceBuffer::allocate(context, all_sets(plan.matrix_bytes()));
  if (!memory) return tl::unexpected(memory.error());
  auto bias = gpu::DeviceBuffer::allocate(context, all_sets(plan.bytes_bias));
  if (!bias) return tl::unexpected(bias.error());
  auto scales = gpu::DeviceBuffer::allocate(context, all_sets(plan.scale_bytes()));
  if (!scales) return tl::unexpected(scales.error());
  auto workspace = gpu::DeviceBuffer::allocate(context, static_cast<size_t>(workspace_bytes));
  if (!workspace) return tl::unexpected(workspace.error());
  if (auto filled = fill_random(context, compiler, arch, problem.type, kSeed, *memory); !filled)
    return tl::unexpected(filled.error());
  if (plan.bytes_bias > 0) {
    auto filled = fill_random(context, compiler, arch, result_type(problem), kBiasSeed, *bias);
    if (!filled) return tl::unexpected(filled.error());
  }
  if (plan.scale_bytes() > 0) {
    auto filled = fill_random(context, compiler, arch, DataType::f32, kScaleSeed, *scales);
    if (!filled) return tl::unexpected(filled.error());
  }
  return OperandSets(problem, plan, std::move(*memory), std::move(*bias), std::move(*scales),
                     std::move(*workspace));
}

int64_t OperandSets::offset_a(int64_t set) const {
  return set * plan_.matrix_bytes() + problem_.align_bytes % kLine;
}

launch::Operands OperandSets::operands(int64_t index) const {
  auto* const a = static_cast<std::byte*>(memory_.data()) + offset_a(index % plan_.sets);
  launch::Operands operands;
  operands.a = a;
  operands.b = a + plan_.bytes_a;
  operands.c = a + plan_.bytes_a + plan_.bytes_b;
  if (plan_.bytes_bias > 0)
    operands.bias = static_cast<std::byte*>(bias_.data()) + index % plan_.sets * plan_.bytes_bias;
  if (plan_.scale_bytes() > 0) {
    const auto* const scales =
        static_cast<const std::byte*>(scales_.data()) + index % plan_.sets * plan_.scale_bytes();
    operands.scale_a = reinterpret_cast<const float*>(scales);
    operands.scale_b = reinterpret_cast<const float*>(scales + plan_.bytes_scale_a);
  }
  operands.workspace = workspace_.data();
  return operands;
}

gpu::Result<void> OperandSets::fill_c_with_nan(const gpu::Stream& stream) const {
  return memory_.fill_bytes(stream.handle(), 0xFF, static_cast<size_t>(offset_c()),
                            static_cast<size_t>(bytes_c(problem_)));
}

gpu::Result<void> OperandSets::read_c(const gpu::Stream& stream, int64_t element,
                                      std::span<std::byte> to) const {
  const int64_t offset = offset_c() + element * size_bytes(result_type(problem_));
  return memory_.copy_to_host(stream.handle(), to, static_cast<size_t>(offset));
}

OperandSets::Origin OperandSets::origin_a() const {
  return {kSeed, static_cast<uint64_t>(offset_a(0) / size_bytes(problem_.type)), problem_.type};
}
OperandSets::Origin OperandSets::origin_b() const {
  return {kSeed, static_cast<uint64_t>((offset_a(0) + plan_.bytes_a) / size_bytes(problem_.type)),
          problem_.type};
}
OperandSets::Origin OperandSets::origin_bias() const {
  return {kBiasSeed, 0, result_type(problem_)};
}
OperandSets::Origin OperandSets::origin_scale_a() const {
  return {kScaleSeed, 0, DataType::f32};
}
OperandSets::Origin OperandSets::origin_scale_b() const {
  return {kScaleSeed, static_cast<uint64_t>(plan_.bytes_scale_a / size_bytes(DataType::f32)),
          DataType::f32};
}

}  // namespace gemmtune::tuner
