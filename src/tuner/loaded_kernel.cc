#include "tuner/loaded_kernel.h"

namespace gemmtune::tuner {
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

gpu::Result<LoadedKernel> LoadedKernel::load(std::shared_ptr<const gpu::Context> context,
                                             const codegen::KernelSpec& spec,
                                             const jit::CompiledKernel& kernel) {
  auto module = gpu::Module::load(std::move(context), kernel.cubin);
  if (!module) return tl::unexpected(module.error());
  LoadedKernel loaded(spec, std::move(*module));
  const int smem = spec.strategy->smem_bytes(spec);
  for (const jit::EntryUsage& entry : kernel.entries) {
    auto function = loaded.module_.function(entry.entry);
    if (!function) return tl::unexpected(function.error());
    if (smem > kDefaultSmemLimit) {
      if (auto raised = function->set_max_dynamic_smem(smem); !raised)
        return tl::unexpected(raised.error());
    }
    loaded.entries_.push_back(*function);
  }
  return loaded;
}

gpu::Result<void> LoadedKernel::enqueue(const Problem& problem, const Operands& operands,
                                        CUstream stream) const {
  const GemmArgs args = make_args(problem, operands);
  for (const codegen::KernelLaunch& launch : spec_.strategy->launch_plan(spec_, problem).launches) {
    const gpu::LaunchConfig config{convert(launch.grid), convert(launch.block),
                                   convert(launch.cluster), launch.smem_bytes};
    const auto& entry = entries_[static_cast<size_t>(launch.entry)];
    if (auto launched = entry.launch(config, stream, args); !launched) return launched;
  }
  return {};
}

int64_t LoadedKernel::workspace_bytes(const Problem& problem) const {
  return spec_.strategy->launch_plan(spec_, problem).workspace_bytes;
}

}  // namespace gemmtune::tuner
