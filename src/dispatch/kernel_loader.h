#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "codegen/kernel_spec.h"
#include "dispatch/failure.h"
#include "dispatch/kernel_images.h"
#include "gpu/context.h"
#include "launch/loaded_kernel.h"

namespace gemmtune::dispatch {

// The kernels of a handle, each found and loaded once. Thread-safe; a kernel that one thread is
// compiling is waited for by others that want it.
class KernelLoader {
 public:
  KernelLoader(std::shared_ptr<const gpu::Context> context, KernelImages images)
      : context_(std::move(context)), images_(std::move(images)) {}

  // A kernel of this arch; valid as long as the loader. NO_KERNEL if there is no machine code for
  // it, which is final; CUDA or OUT_OF_MEMORY where the driver fails, which is not.
  Outcome<const launch::LoadedKernel*> load(const codegen::KernelSpec& spec);

 private:
  struct Slot {
    std::mutex mutex;  // held while the kernel is found and loaded
    std::optional<launch::LoadedKernel> kernel;
    std::string why_not;
  };

  std::shared_ptr<const gpu::Context> context_;
  KernelImages images_;
  std::mutex mutex_;                                    // of the map
  std::map<std::string, std::unique_ptr<Slot>> slots_;  // by candidate_name()
};

}  // namespace gemmtune::dispatch
