#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/device.h"
#include "gpu/context.h"
#include "gpu/driver.h"
#include "gpu/nvml.h"
#include "jit/compiler.h"
#include "tuner/measure/benchmark.h"
#include "tuner/measure/vendor_product.h"
#include "tuner/session/evaluator.h"
#include "tuner/verify/accuracy.h"
#include "tuner/verify/gpu_verifier.h"
#include "vendor/cublaslt.h"

namespace gemmtune::tuner {

// The device side of a session.
struct DeviceServices {
  std::shared_ptr<const gpu::Driver> driver;
  Device device;
  std::shared_ptr<const jit::Compiler> compiler;
  std::shared_ptr<const vendor::CublasLtLibrary> cublaslt;  // null: no vendor baseline
  std::optional<gpu::NvmlDevice> nvml;
};

// What is timed of a problem.
struct TimedProduct {
  bool warm = false;  // operands stay in cache
  float beta = 0;
  int64_t vendor_workspace_bytes = kVendorWorkspaceBytes;  // that at most
};

// What kernels and the vendor's algorithms for one problem are run with: operands, streams, the
// vendor's plan, verification. All of it lives in one context and is lost with it. But for
// create() and verify(), the context must be current. Move-only.
class DeviceBench {
 public:
  // `problem` is canonical. Usage error if its operands do not fit the device. A problem that
  // cuBLASLt cannot compute has no vendor(); where `needs_vendor`, that is an error.
  static Expected<DeviceBench> create(const DeviceServices& services, const Problem& problem,
                                      const TimedProduct& timed, bool needs_vendor);

  const Problem& problem() const { return problem_; }
  const std::shared_ptr<gpu::Context>& context() const { return parts_.context; }
  const gpu::Stream& stream() const { return parts_.stream; }
  const OperandSets& sets() const { return parts_.sets; }
  const std::optional<VendorProduct>& vendor() const { return parts_.vendor; }

  // Both refer to the bench; the first to the kernel, too.
  Enqueue enqueue_kernel(const launch::LoadedKernel& kernel) const;
  Enqueue enqueue_vendor(int rank) const;

  // A graph of so many products, as they are timed.
  gpu::Result<TimedGraph> record(const Enqueue& enqueue, int64_t launches) const;

  // On operands of verification.
  gpu::Result<Verdict> verify(const launch::LoadedKernel& kernel) const {
    return parts_.verifier.verify(kernel);
  }

  // On the benchmark's own operands.
  gpu::Result<Accuracy> accuracy(const Enqueue& enqueue) const {
    return parts_.probe.measure(parts_.sets, parts_.stream, enqueue);
  }
  // Fills in the errors of a kernel, and the outcome where they are too large. `vendor_error` is
  // the largest of the vendor's, if it is known.
  gpu::Result<void> judge_accuracy(const launch::LoadedKernel& kernel,
                                   std::optional<double> vendor_error,
                                   Evaluation& evaluation) const;

  // What samples of the vendor's algorithm `rank` say.
  VendorResult vendor_result(int rank, const Contender& contender) const;

 private:
  struct Parts {
    std::shared_ptr<gpu::Context> context;
    gpu::Stream stream;
    OperandSets sets;
    std::optional<VendorProduct> vendor;
    GpuVerifier verifier;
    AccuracyProbe probe;
  };

  DeviceBench(const Problem& problem, float beta, std::string vendor_version, Parts parts)
      : problem_(problem),
        beta_(beta),
        vendor_version_(std::move(vendor_version)),
        parts_(std::move(parts)) {}

  Problem problem_;
  float beta_;
  std::string vendor_version_;  // empty: no cuBLASLt
  Parts parts_;
};

}  // namespace gemmtune::tuner
