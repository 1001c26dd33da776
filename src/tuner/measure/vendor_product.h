#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/problem.h"
#include "gpu/context.h"
#include "gpu/module.h"
#include "jit/compiler.h"
#include "launch/arguments.h"
#include "parts/shared/gemm_args.h"
#include "vendor/cublaslt.h"

namespace gemmtune::tuner {

// What the vendor's algorithms may ask for where nothing else is said.
inline constexpr int64_t kVendorWorkspaceBytes = vendor::PlanOptions{}.max_workspace_bytes;

// A problem as a program without our kernels computes it: by cuBLASLt with its own epilogue, or,
// where it has no algorithm with that one, by its product and a second kernel that applies the
// epilogue to C in place. The second way rounds to C's type twice: once the product with beta * C,
// once the result. Move-only.
class VendorProduct {
 public:
  // `problem` is canonical; the second kernel is compiled for `arch`. ErrorKind::unsupported if
  // cuBLASLt has no algorithm for the product either.
  static Expected<VendorProduct> create(const vendor::CublasLt& cublas,
                                        std::shared_ptr<const gpu::Context> context,
                                        const jit::KernelCompiler& compiler, Arch arch,
                                        const Problem& problem,
                                        const vendor::PlanOptions& options = {});

  int algorithms() const { return plan_.algorithms(); }

  // MatmulPlan::describe(), and " + epilogue kernel" where there is one.
  std::string describe(int rank) const;

  // Enqueues all of the product by algorithm `rank` on `stream`; the context must be current.
  // Operands have a workspace of `workspace_bytes`. Legal under stream capture.
  gpu::Result<void> run(int rank, CUstream stream, const launch::Operands& operands,
                        int64_t workspace_bytes) const;

 private:
  struct SecondKernel {
    gpu::Module module;
    gpu::Function function;  // of the module
    LaunchConfig launch;
    GemmArgs args;  // without addresses
  };

  VendorProduct(vendor::MatmulPlan plan, std::optional<SecondKernel> second)
      : plan_(std::move(plan)), second_(std::move(second)) {}
  static Expected<SecondKernel> load_second(std::shared_ptr<const gpu::Context> context,
                                            const jit::KernelCompiler& compiler, Arch arch,
                                            const Problem& problem);

  vendor::MatmulPlan plan_;
  std::optional<SecondKernel> second_;
};

}  // namespace gemmtune::tuner
