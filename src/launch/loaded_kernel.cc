#include "launch/loaded_kernel.h"

#include <fmt/format.h>

#include "gpu/tensor_map.h"

namespace gemmtune::launch {
namespace {

constexpr int kDefaultSmemLimit = 48 * 1024;  // above it a kernel has to opt in

// A kernel that shares out more registers than it has would never end.
gpu::Result<void> check_registers(const gpu::Function& main_kernel,
                                  const codegen::KernelSpec& spec) {
  const int least = spec.strategy->least_registers(spec);
  if (least == 0) return {};
  auto has = main_kernel.attributes();
  if (!has) return tl::unexpected(has.error());
  if (has->registers >= least) return {};
  return gpu::cuda_error(
      ErrorKind::failed,
      fmt::format("the assembler gave each thread {} registers where the kernel shares out {}",
                  has->registers, least));
}

}  // namespace

gpu::Result<void> BoundKernel::launch(const Step& step, const Operands& operands,
                                      CUstream stream) const {
  ParameterBlock block;
  const auto encode = [&step](const TensorMapConfig& config, const void* address) {
    return gpu::encode_tensor_map(step.function.driver(), config, address);
  };
  auto packed = pack_arguments(step.arguments, problem_, device_scalars_, operands, encode, block);
  if (!packed) return packed;
  return block.parameters() == 1
             ? step.function.launch_raw(step.config, stream, block.bytes())
             : step.function.launch_parameters(step.config, stream, block.addresses());
}

tl::expected<void, EnqueueError> BoundKernel::enqueue(const Operands& operands,
                                                      CUstream stream) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    auto launched = launch(steps_[i], operands, stream);
    if (launched) continue;
    EnqueueError error(std::move(launched.error()));
    error.c_changed = writes_c_early_ && i > 0;
    return tl::unexpected(std::move(error));
  }
  return {};
}

gpu::Result<LoadedKernel> LoadedKernel::load(std::shared_ptr<const gpu::Context> context,
                                             const codegen::KernelSpec& spec,
                                             std::span<const std::byte> image) {
  auto module = gpu::Module::load(std::move(context), image);
  if (!module) return tl::unexpected(module.error());
  LoadedKernel loaded(spec, std::move(*module));
  const std::vector<std::string> names = codegen::entry_names(spec);
  const std::vector<codegen::EntryPoint> entries = spec.strategy->entry_points(spec);
  for (size_t i = 0; i < entries.size(); ++i) {
    auto function = loaded.module_.function(names[i]);
    if (!function) return tl::unexpected(function.error());
    if (entries[i].smem_bytes > kDefaultSmemLimit) {
      if (auto raised = function->set_max_dynamic_smem(entries[i].smem_bytes); !raised)
        return tl::unexpected(raised.error());
    }
    if (i == 0) {
      if (auto enough = check_registers(*function, spec); !enough)
        return tl::unexpected(enough.error());
    }
    loaded.entries_.push_back(*function);
  }
  return loaded;
}

BoundKernel LoadedKernel::bind(const Problem& problem) const {
  const codegen::LaunchPlan plan = spec_.strategy->launch_plan(spec_, problem);
  BoundKernel bound;
  bound.problem_ = problem;
  bound.device_scalars_ = spec_.device_scalars;
  bound.workspace_bytes_ = plan.workspace_bytes;
  bound.writes_c_early_ = plan.writes_c_early;
  for (const codegen::KernelLaunch& launch : plan.launches) {
    bound.steps_.push_back(
        {entries_[static_cast<size_t>(launch.entry)], launch.config, launch.arguments});
  }
  // Kernels of programs let none start early, and behind those such a launch takes 0.1 to 0.4 us
  // longer (docs/decisions/0015-launches-behind-others.md).
  if (!bound.steps_.empty()) bound.steps_.front().config.overlaps_previous = false;
  return bound;
}

gpu::Result<void> LoadedKernel::enqueue(const Problem& problem, const Operands& operands,
                                        CUstream stream) const {
  const auto done = bind(problem).enqueue(operands, stream);
  if (done) return {};
  const gpu::CudaError& error = done.error();
  return tl::unexpected(error);
}

int64_t LoadedKernel::workspace_bytes(const Problem& problem) const {
  return spec_.strategy->launch_plan(spec_, problem).workspace_bytes;
}

}  // namespace gemmtune::launch
