#include "tuner/session/device_bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/workspace_limits.h"
#include "tuner/session/measured.h"

namespace gemmtune::tuner {
namespace {

const CaseSizes kVerifySizes{301, 333, 77};

// Of what is compiled for the device itself.
Arch own_arch(const DeviceServices& services) {
  return newest_arch(services.device.arch).value_or(services.device.arch);
}

// Nothing where there is no cuBLASLt, or where it cannot compute the problem and need not.
Expected<std::optional<VendorProduct>> make_vendor(const DeviceServices& services,
                                                   const std::shared_ptr<gpu::Context>& context,
                                                   const Problem& problem, int64_t workspace_bytes,
                                                   bool needed) {
  if (!services.cublaslt) return std::nullopt;
  auto handle = vendor::CublasLt::create(services.cublaslt, context);
  if (!handle) return tl::unexpected(handle.error());
  vendor::PlanOptions options;
  options.max_workspace_bytes = workspace_bytes;
  auto made = VendorProduct::create(*handle, context, *services.compiler, own_arch(services),
                                    problem, options);
  if (made) return std::move(*made);
  if (needed || made.error().kind == ErrorKind::io) return tl::unexpected(made.error());
  return std::nullopt;
}

}  // namespace

Expected<DeviceBench> DeviceBench::create(const DeviceServices& services, const Problem& problem,
                                          const TimedProduct& timed, bool needs_vendor) {
  auto context = gpu::Context::retain(services.driver, services.device.ordinal);
  if (!context) return tl::unexpected(context.error());
  const SetPlan plan = plan_sets(problem, services.device.l2_bytes, timed.warm);
  const auto memory = (*context)->memory();
  if (!memory) return tl::unexpected(memory.error());
  const int64_t workspace = std::max(
      kVendorWorkspaceBytes, codegen::candidate_workspace_bytes(problem, services.device.arch));
  if (auto fits = check_memory(problem, plan, workspace, memory->free_bytes); !fits)
    return tl::unexpected(fits.error());

  auto stream = gpu::Stream::create(*context);
  if (!stream) return tl::unexpected(stream.error());
  auto sets = OperandSets::create(*context, *services.compiler, own_arch(services), problem, plan,
                                  workspace);
  if (!sets) return tl::unexpected(sets.error());
  auto verifier = GpuVerifier::create(
      *context, verification_cases(kind_of(problem), kVerifySizes, Effort::quick));
  if (!verifier) return tl::unexpected(verifier.error());
  auto vendor_product =
      make_vendor(services, *context, problem, timed.vendor_workspace_bytes, needs_vendor);
  if (!vendor_product) return tl::unexpected(vendor_product.error());
  const AccuracyProbe probe(problem, *sets);
  return DeviceBench(
      problem, timed.beta,
      services.cublaslt ? std::to_string(services.cublaslt->version()) : std::string(),
      {*context, std::move(*stream), std::move(*sets), std::move(*vendor_product),
       std::move(*verifier), probe});
}

Enqueue DeviceBench::enqueue_kernel(const launch::LoadedKernel& kernel) const {
  return [this, &kernel](const launch::Operands& operands, CUstream stream) {
    return kernel.enqueue(problem_, operands, stream);
  };
}

Enqueue DeviceBench::enqueue_vendor(int rank) const {
  return tuner::enqueue_vendor(*parts_.vendor, rank, kVendorWorkspaceBytes);
}

gpu::Result<TimedGraph> DeviceBench::record(const Enqueue& enqueue, int64_t launches) const {
  const auto with_beta = [&](launch::Operands operands, CUstream stream) {
    operands.beta = beta_;
    return enqueue(operands, stream);
  };
  return TimedGraph::record(parts_.stream, parts_.sets, with_beta, launches);
}

gpu::Result<void> DeviceBench::judge_accuracy(const launch::LoadedKernel& kernel,
                                              std::optional<double> vendor_error,
                                              Evaluation& evaluation) const {
  const auto judged = accuracy(enqueue_kernel(kernel));
  if (!judged) return tl::unexpected(judged.error());
  evaluation.max_error = judged->max_error;
  evaluation.vendor_max_error = vendor_error;
  auto reason = too_inaccurate(problem_, judged->max_error, vendor_error);
  if (!judged->within_bound) {
    reason = fmt::format("error {:.2e} on the benchmark's own operands", judged->max_error);
  }
  if (!reason) return {};
  evaluation.outcome = store::Outcome::wrong_result;
  evaluation.reason = *reason;
  return {};
}

VendorResult DeviceBench::vendor_result(int rank, const Contender& contender) const {
  VendorResult result;
  result.rank = rank;
  result.config = fmt::format("rank={} {}", rank, parts_.vendor->describe(rank));
  result.library_version = vendor_version_;
  result.measurement = to_measurement(contender, std::nullopt);
  return result;
}

}  // namespace gemmtune::tuner
