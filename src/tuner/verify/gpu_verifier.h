#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "gpu/memory.h"
#include "gpu/stream.h"
#include "launch/loaded_kernel.h"
#include "tuner/verify/verdict.h"

namespace gemmtune::tuner {

// Verifies kernels of one KernelTraits on a GPU. The operands of all cases are computed and
// uploaded once; a kernel then costs some launches and copies of small matrices. Move-only.
class GpuVerifier {
 public:
  static gpu::Result<GpuVerifier> create(const std::shared_ptr<const gpu::Context>& context,
                                         std::vector<VerificationCase> cases);

  // Runs all cases, and tells of the first one that failed. An error means that the kernel could
  // not be launched or crashed; check CudaError::context_lost().
  gpu::Result<Verdict> verify(const launch::LoadedKernel& kernel) const;

  size_t size() const { return cases_.size(); }

 private:
  struct Uploaded {
    gpu::DeviceBuffer a;
    gpu::DeviceBuffer b;
    gpu::DeviceBuffer c;     // with guard zones
    gpu::DeviceBuffer bias;  // with guard zones of NaN
    gpu::DeviceBuffer scale_a;
    gpu::DeviceBuffer scale_b;
    std::vector<std::byte> image;
  };

  GpuVerifier(std::shared_ptr<const gpu::Context> context, gpu::Stream stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}
  gpu::Result<void> upload(VerificationCase test);
  // C with its guard zones, as the kernel left it.
  gpu::Result<std::vector<std::byte>> run(size_t index, const launch::LoadedKernel& kernel,
                                          const gpu::DeviceBuffer& workspace) const;
  Verdict first_failure(const std::vector<std::vector<std::byte>>& images) const;

  std::shared_ptr<const gpu::Context> context_;
  gpu::Stream stream_;
  std::vector<VerificationCase> cases_;
  std::vector<HostOperands> operands_;
  std::vector<Uploaded> uploaded_;
};

}  // namespace gemmtune::tuner
