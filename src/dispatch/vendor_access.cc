#include "dispatch/vendor_access.h"

#include <algorithm>
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

}  // namespace gemmtune::dispatch
