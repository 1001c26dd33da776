#include "dispatch/vendor_access.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "vendor/algorithm_names.h"

namespace gemmtune::dispatch {

Expected<vendor::CublasLt> VendorAccess::open() {
  const std::lock_guard lock(mutex_);
  if (cublas_) return *cublas_;
  if (names_.empty()) why_not_ = "cuBLASLt is not to be used";
  if (!why_not_.empty()) return make_error(ErrorKind::unsupported, why_not_);
  auto library = vendor::CublasLtLibrary::load(names_);
  if (!library) {
    why_not_ = library.error().message;
    return make_error(ErrorKind::unsupported, why_not_);
  }
  auto created = vendor::CublasLt::create(*std::move(library), context_);
  if (!created) return tl::unexpected(created.error());  // may work the next time
  cublas_ = *std::move(created);
  return *cublas_;
}

Expected<VendorAccess::Algorithm> VendorAccess::find(const Problem& problem,
                                                     const std::string& config, bool device_scalars,
                                                     int64_t max_workspace_bytes) {
  const gpu::RelaxedCapture relaxed(*context_);
  auto cublas = open();
  if (!cublas) return tl::unexpected(cublas.error());
  vendor::PlanOptions options;
  options.device_scalars = device_scalars;
  options.max_workspace_bytes = std::min(options.max_workspace_bytes, max_workspace_bytes);
  if (config.empty()) options.max_algorithms = 1;
  auto plan = cublas->plan(problem, options);
  if (!plan) return tl::unexpected(plan.error());
  Algorithm algorithm;
  if (!config.empty()) {
    const int found = plan->find(vendor::without_rank(config));
    algorithm.is_default = found < 0;
    algorithm.index = std::max(0, found);
  }
  algorithm.plan = std::make_shared<const vendor::MatmulPlan>(*std::move(plan));
  return algorithm;
}

bool VendorAccess::chooses_by_workspace(const Problem& problem, int64_t workspace_bytes) {
  const auto first = [&](int64_t bytes) -> std::optional<std::string> {
    const auto found = find(problem, "", false, bytes);
    if (!found) return std::nullopt;
    return found->plan->describe(found->index);
  };
  const auto within = first(workspace_bytes);
  return within && within != first(std::numeric_limits<int64_t>::max());
}

}  // namespace gemmtune::dispatch
