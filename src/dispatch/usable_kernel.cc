#include "dispatch/usable_kernel.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "codegen/strategy.h"
#include "dispatch/power_limit.h"

namespace gemmtune::dispatch {

Expected<codegen::KernelSpec> usable_kernel(std::string_view strategy_name, std::string_view config,
                                            Arch capability, const Request& request,
                                            const Target& target) {
  auto spec = codegen::parse_spec(strategy_name, config, request.problem, capability);
  if (!spec) return spec;
  spec->device_scalars = request.device_scalars;
  if (request.reads_c) *spec = codegen::fetching_c(*spec, target.limits);
  const auto refuse = [](std::string why) {
    return make_error(ErrorKind::unsupported, std::move(why));
  };
  const codegen::Strategy& strategy = *spec->strategy;
  if (auto supported = strategy.supports(request.problem, capability); !supported)
    return tl::unexpected(supported.error());
  if (const codegen::Rule* broken = codegen::broken_rule(*spec, target.limits))
    return refuse(fmt::format("illegal here: {} ({})", broken->name, broken->reason));
  if (target.deterministic && !strategy.deterministic(*spec))
    return refuse("not deterministic, which was asked for");
  const codegen::LaunchPlan plan = strategy.launch_plan(*spec, request.problem);
  if (!codegen::fits_grids(plan)) return refuse("needs more blocks than a grid can have");
  const int64_t workspace = plan.workspace_bytes;
  if (workspace > target.max_workspace_bytes) {
    return refuse(fmt::format("needs a workspace of {} bytes, {} are allowed", workspace,
                              target.max_workspace_bytes));
  }
  return spec;
}

Expected<codegen::KernelSpec> usable_kernel(const StoredKernel& stored, const Request& request,
                                            const Target& target) {
  return usable_kernel(stored.strategy, stored.config, stored.arch, request, target);
}

Choice kernel_choice(const codegen::KernelSpec& spec, const StoredKernel& stored) {
  Choice choice;
  choice.route = Choice::Route::kernel;
  choice.spec = spec;
  choice.stored = &stored;
  return choice;
}

Choice timed_choice(const codegen::KernelSpec& spec, const StoredKernel& stored,
                    const KnownKernel& known) {
  Choice choice = kernel_choice(spec, stored);
  choice.expected_us = known.time_us;
  choice.origin = known.origin;
  choice.stale = known.stale;
  return choice;
}

double counted_us(const KnownKernel& kernel, const Problem& problem, const Target& target) {
  if (kernel.origin != Origin::same_model) return kernel.rank_us;
  return kernel.rank_us * longer_on_another_card(problem, kernel.time_us, target.limits);
}

}  // namespace gemmtune::dispatch
