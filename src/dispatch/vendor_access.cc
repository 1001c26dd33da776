#include "dispatch/vendor_access.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gemmtune::dispatch {
namespace {

// A stored config is "rank=3 algo=21 tile=...": the rank is the place in the heuristic's order,
// which another version of cuBLASLt, or another limit on the workspace, changes.
std::string_view without_rank(std::string_view config) {
  if (!config.starts_with("rank=")) return config;
  const size_t space = config.find(' ');
  return space == std::string_view::npos ? std::string_view{} : config.substr(space + 1);
}

}  // namespace

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
  auto cublas = open();
  if (!cublas) return tl::unexpected(cublas.error());
  vendor::PlanOptions options;
  options.device_scalars = device_scalars;
  options.max_workspace_bytes = std::min(options.max_workspace_bytes, max_workspace_bytes);
  if (config.empty()) options.max_algorithms = 1;
  const gpu::RelaxedCapture relaxed(*context_);
  auto plan = cublas->plan(problem, options);
  if (!plan) return tl::unexpected(plan.error());
  Algorithm algorithm;
  if (!config.empty()) {
    const int found = plan->find(without_rank(config));
    algorithm.is_default = found < 0;
    algorithm.index = std::max(0, found);
  }
  algorithm.plan = std::make_shared<const vendor::MatmulPlan>(*std::move(plan));
  return algorithm;
}

}  // namespace gemmtune::dispatch
