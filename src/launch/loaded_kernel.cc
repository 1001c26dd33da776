#include "launch/loaded_kernel.h"

namespace gemmtune::launch {
namespace {

constexpr int kDefaultSmemLimit = 48 * 1024;  // above it a kernel has to opt in

gpu::Dim3 convert(const codegen::Dim3& d) {
  return {d.x, d.y, d.z};
}

}  // namespace

GemmArgs make_args(const Problem& p, const Operands& operands) {
  GemmArgs args;
  args.a = operands.a;
  args.b = operands.b;
  args.c = operands.c;
  args.workspace = operands.workspace;
  args.m = static_cast<int>(p.shape.m);
  args.n = static_cast<int>(p.shape.n);
  args.k = static_cast<int>(p.shape.k);
  args.batch = static_cast<int>(p.batch);
  args.lda = p.lda;
  args.ldb = p.ldb;
  args.ldc = p.ldc;
  args.stride_a = p.stride_a;
  args.stride_b = p.stride_b;
  args.stride_c = p.stride_c;
  args.alpha = operands.alpha;
  args.beta = operands.beta;
  return args;
}

gpu::Result<void> BoundKernel::enqueue(const Operands& operands, CUstream stream) const {
  const GemmArgs args = make_args(problem_, operands);
  const DeviceScalarArgs with_scalars{args, operands.alpha_device, operands.beta_device};
  for (const Step& step : steps_) {
    auto launched = device_scalars_ ? step.function.launch(step.config, stream, with_scalars)
                                    : step.function.launch(step.config, stream, args);
    if (!launched) return launched;
  }
  return {};
}

gpu::Result<LoadedKernel> LoadedKernel::load(std::shared_ptr<const gpu::Context> context,
                                             const codegen::KernelSpec& spec,
                                             std::span<const std::byte> image) {
  auto module = gpu::Module::load(std::move(context), image);
  if (!module) return tl::unexpected(module.error());
  LoadedKernel loaded(spec, std::move(*module));
  const int smem = spec.strategy->smem_bytes(spec);
  for (const std::string& entry : codegen::entry_names(spec)) {
    auto function = loaded.module_.function(entry);
    if (!function) return tl::unexpected(function.error());
    // Only the main kernel, the first, has dynamic shared memory.
    if (loaded.entries_.empty() && smem > kDefaultSmemLimit) {
      if (auto raised = function->set_max_dynamic_smem(smem); !raised)
        return tl::unexpected(raised.error());
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
  for (const codegen::KernelLaunch& launch : plan.launches) {
    bound.steps_.push_back({entries_[static_cast<size_t>(launch.entry)],
                            {convert(launch.grid), convert(launch.block), convert(launch.cluster),
                             launch.smem_bytes}});
  }
  return bound;
}

gpu::Result<void> LoadedKernel::enqueue(const Problem& problem, const Operands& operands,
                                        CUstream stream) const {
  return bind(problem).enqueue(operands, stream);
}

int64_t LoadedKernel::workspace_bytes(const Problem& problem) const {
  return spec_.strategy->launch_plan(spec_, problem).workspace_bytes;
}

}  // namespace gemmtune::launch
