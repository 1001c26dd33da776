#pragma once

#include <memory>
#include <vector>

#include "codegen/strategy.h"
#include "gpu/context.h"
#include "gpu/function.h"
#include "gpu/module.h"
#include "gpu/stream.h"
#include "jit/compile.h"

namespace gemmtune::tuner {

// Operand addresses of one product, its scalars, and the workspace that the plan asks for.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  float alpha = 1;
  float beta = 0;
};

// The kernel argument for `problem` (canonical).
GemmArgs make_args(const Problem& problem, const Operands& operands);

// A compiled candidate in a context, ready to launch. Move-only.
class LoadedKernel {
 public:
  static gpu::Result<LoadedKernel> load(std::shared_ptr<const gpu::Context> context,
                                        const codegen::KernelSpec& spec,
                                        const jit::CompiledKernel& kernel);

  // Enqueues every launch of the plan for `problem`. Legal under stream capture.
  gpu::Result<void> enqueue(const Problem& problem, const Operands& operands,
                            CUstream stream) const;

  int64_t workspace_bytes(const Problem& problem) const;
  const codegen::KernelSpec& spec() const { return spec_; }

 private:
  LoadedKernel(codegen::KernelSpec spec, gpu::Module module)
      : spec_(spec), module_(std::move(module)) {}

  codegen::KernelSpec spec_;
  gpu::Module module_;
  std::vector<gpu::Function> entries_;  // of module_
};

}  // namespace gemmtune::tuner
