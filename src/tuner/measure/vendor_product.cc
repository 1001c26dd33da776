#include "tuner/measure/vendor_product.h"

#include <utility>

#include "codegen/epilogue_kernel.h"
#include "jit/compile_again.h"

namespace gemmtune::tuner {

Expected<VendorProduct::SecondKernel> VendorProduct::load_second(
    std::shared_ptr<const gpu::Context> context, const jit::KernelCompiler& compiler, Arch arch,
    const Problem& problem) {
  const codegen::EpilogueKernel kernel = codegen::epilogue_kernel(problem);
  const auto result = jit::compile_again(compiler, {kernel.source, arch, {}});
  // That says nothing of the product.
  if (!result) return make_error(ErrorKind::io, result.error().message);
  const jit::CompileResult& compiled = *result;
  if (!compiled) {
    return make_error(ErrorKind::failed,
                      "compiling " + kernel.source.name + ": " + compiled.error().first_error);
  }
  auto module = gpu::Module::load(std::move(context), compiled->cubin);
  if (!module) return tl::unexpected(module.error());
  const auto function = module->function(kernel.source.entries.front());
  if (!function) return tl::unexpected(function.error());
  return SecondKernel{std::move(*module), *function, kernel.launch, kernel.args};
}

Expected<VendorProduct> VendorProduct::create(const vendor::CublasLt& cublas,
                                              std::shared_ptr<const gpu::Context> context,
                                              const jit::KernelCompiler& compiler, Arch arch,
                                              const Problem& problem,
                                              const vendor::PlanOptions& options) {
  auto whole = cublas.plan(problem, options);
  if (whole) return VendorProduct(std::move(*whole), std::nullopt);
  if (whole.error().kind != ErrorKind::unsupported) return tl::unexpected(whole.error());
  Problem product = problem;
  product.epilogue = {};
  product.epilogue.scale = problem.epilogue.scale;
  if (product == problem) return tl::unexpected(whole.error());
  Problem rest = problem;
  rest.epilogue.scale = kNoScale;
  auto plan = cublas.plan(product, options);
  if (!plan) return tl::unexpected(plan.error());
  auto second = load_second(std::move(context), compiler, arch, rest);
  if (!second) return tl::unexpected(second.error());
  return VendorProduct(std::move(*plan), std::move(*second));
}

std::string VendorProduct::describe(int rank) const {
  return plan_.describe(rank) + (second_ ? " + epilogue kernel" : "");
}

gpu::Result<void> VendorProduct::run(int rank, CUstream stream, const launch::Operands& operands,
                                     int64_t workspace_bytes) const {
  vendor::MatmulArgs args;
  args.a = operands.a;
  args.b = operands.b;
  args.c = operands.c;
  args.alpha = operands.alpha;
  args.beta = operands.beta;
  args.workspace = operands.workspace;
  args.workspace_bytes = workspace_bytes;
  args.bias = operands.bias;
  args.scale_a = operands.scale_a;
  args.scale_b = operands.scale_b;
  if (auto queued = plan_.run(rank, stream, args); !queued || !second_) return queued;
  GemmArgs second = second_->args;
  second.c = operands.c;
  second.bias = operands.bias;
  return second_->function.launch(second_->launch, stream, second);
}

}  // namespace gemmtune::tuner
