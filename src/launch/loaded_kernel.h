#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codegen/strategy.h"
#include "gpu/context.h"
#include "gpu/function.h"
#include "gpu/module.h"
#include "launch/arguments.h"

namespace gemmtune::launch {

// Why a product was not enqueued.
struct EnqueueError : gpu::CudaError {
  // NOLINTNEXTLINE(google-explicit-constructor): as CudaError is made of an Error
  EnqueueError(gpu::CudaError error) : CudaError(std::move(error)) {}

  bool c_changed = false;  // a launch that writes C was enqueued before the one that failed
};

// A loaded kernel and a problem: all that a launch needs but the addresses. Cheap to copy; valid as
// long as the LoadedKernel. Thread-safe.
class BoundKernel {
 public:
  // Enqueues every launch of the plan; the context must be current. Allocates nothing and is legal
  // under stream capture.
  tl::expected<void, EnqueueError> enqueue(const Operands& operands, CUstream stream) const;

  int64_t workspace_bytes() const { return workspace_bytes_; }

 private:
  friend class LoadedKernel;
  struct Step {
    gpu::Function function;
    LaunchConfig config;
    std::vector<codegen::KernelArgument> arguments;
  };

  gpu::Result<void> launch(const Step& step, const Operands& operands, CUstream stream) const;

  Problem problem_;
  bool device_scalars_ = false;
  int64_t workspace_bytes_ = 0;
  bool writes_c_early_ = false;
  std::vector<Step> steps_;
};

// A compiled candidate in a context, ready to launch. Move-only.
class LoadedKernel {
 public:
  // `image` is the machine code (or PTX) of codegen::emit(spec).
  static gpu::Result<LoadedKernel> load(std::shared_ptr<const gpu::Context> context,
                                        const codegen::KernelSpec& spec,
                                        std::span<const std::byte> image);

  // `problem` is canonical, supported by the strategy, and agrees with spec().traits.
  BoundKernel bind(const Problem& problem) const;

  // bind(problem).enqueue(operands, stream).
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

}  // namespace gemmtune::launch
