#include "dispatch/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/strategy.h"
#include "dispatch/fallback.h"
#include "dispatch/power_limit.h"
#include "dispatch/reading_c.h"
#include "dispatch/row_bounds.h"
#include "dispatch/similar_lead.h"
#include "vendor/cublaslt.h"

namespace gemmtune::dispatch {
namespace {

constexpr size_t kNeighboursLooked = 32;  // that may turn out not to be legal here
constexpr size_t kNeighboursKept = 3;
// A problem of another layout is as far away as one of 20 times the size.
constexpr double kLayoutDistance = 3;
// One with another epilogue as one of 1.6 times the size: its tile serves with any.
constexpr double kEpilogueDistance = 0.5;

// The kernel of a strategy and tile for the request, if it may be used here.
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

// The same of a kernel that was timed on the very problem.
Choice timed_choice(const codegen::KernelSpec& spec, const StoredKernel& stored,
                    const KnownKernel& known) {
  Choice choice = kernel_choice(spec, stored);
  choice.expected_us = known.time_us;
  choice.origin = known.origin;
  choice.stale = known.stale;
  return choice;
}

std::string name_of(const StoredKernel& stored) {
  return stored.strategy + " " + stored.config;
}

// What a kernel's time for `problem` counts as beside the vendor's for it, C apart.
double counted_us(const KnownKernel& kernel, const Problem& problem, const Target& target) {
  if (kernel.origin != Origin::same_model) return kernel.rank_us;
  return kernel.rank_us * longer_on_another_card(problem, kernel.time_us, target.limits);
}

// What was measured for this very problem, best first.
void add_measured(const Snapshot& snapshot, const Known& known, const Request& request,
                  const Target& target, Decision& decision) {
  const bool have_kernel = known.kernel && is_direct(known.kernel->origin);
  const bool have_vendor = known.vendor && is_direct(known.vendor->origin);
  const auto time_of = [](const auto& part) {
    return fmt::format("{:.2f} us, {}{}", part.time_us, to_string(part.origin),
                       part.origin == Origin::this_device ? "" : " only");
  };
  if (have_kernel) {
    const StoredKernel& stored = snapshot.kernels[known.kernel->index];
    auto spec = usable_kernel(stored, request, target);
    if (spec) {
      Choice choice = timed_choice(*spec, stored, *known.kernel);
      choice.reason = time_of(*known.kernel);
      const double counted = counted_us(*known.kernel, request.problem, target);
      if (counted > known.kernel->time_us)
        choice.reason += fmt::format(", counts as {:.2f}", counted);
      decision.choices.push_back(std::move(choice));
    } else {
      decision.rejections.push_back({name_of(stored), spec.error().message});
    }
  }
  if (have_vendor && target.vendor) {
    Choice choice;
    choice.route = Choice::Route::vendor_algorithm;
    choice.vendor_config = snapshot.vendor_configs[known.vendor->index];
    choice.expected_us = known.vendor->time_us;
    choice.origin = known.vendor->origin;
    choice.reason = time_of(*known.vendor);
    decision.choices.push_back(std::move(choice));
  }
  // A stale kernel is still a measured one; its time decides like any other.
  if (decision.choices.size() == 2 &&
      known.vendor->time_us <
          counted_us(*known.kernel, request.problem, target) + more_for_c_us(request))
    std::swap(decision.choices[0], decision.choices[1]);
}

// What was measured for this problem with pointers of another alignment class, the nearest first.
// Of the kernels shipped for the H200, the 44 that beat the vendor at 16 bytes have 0.997 to 2.99
// times its best speed at 256, too (docs/performance.md). One that lost says that others would.
void add_other_alignments(const Snapshot& snapshot, const Request& request, const Target& target,
                          Decision& decision) {
  for (const Problem& other : other_alignments(request.problem)) {
    const uint32_t number = snapshot.problems.find(other);
    if (number == ProblemIndex::kNone) continue;
    const Known& known = snapshot.known[number];
    if (!known.kernel || !is_direct(known.kernel->origin)) continue;
    const bool lost =
        known.vendor && is_direct(known.vendor->origin) &&
        known.vendor->time_us < counted_us(*known.kernel, other, target) + more_for_c_us(request);
    if (lost) return;  // the vendor is no slower with other pointers than it was there
    const StoredKernel& stored = snapshot.kernels[known.kernel->index];
    auto spec = usable_kernel(stored, request, target);
    if (!spec) continue;  // add_neighbours() comes to it as well, and says why
    Choice choice = kernel_choice(*spec, stored);
    choice.neighbour = other;
    choice.stale = known.kernel->stale;
    choice.reason = fmt::format("won the same with pointers that are multiples of {} bytes, {}",
                                other.align_bytes, to_string(known.kernel->origin));
    decision.choices.push_back(std::move(choice));
    return;
  }
}

// What was measured for this problem on another model of the arch with as many SMs, if it is ahead
// of the vendor by enough. Of 75 kernels shipped for the H200, the 41 that are ahead by 8% there
// have 0.99 to 2.7 times the speed of the vendor's default on an H100. A kernel whose source is
// another by now has to be further ahead (docs/decisions/0013-other-models.md).
constexpr double kLeadElsewhere = 1.08;
constexpr double kStaleLeadElsewhere = 1.15;
// Of the bounds that problems with fewer and more rows give (docs/performance.md, "Numbers of rows
// that were not tuned").
constexpr double kLeadOfMoreRows = 1.02;

void add_from_other_model(const Snapshot& snapshot, const Known& known, const Request& request,
                          const Target& target, Decision& decision) {
  if (!known.kernel || !leads_elsewhere(*known.kernel, request)) return;
  const StoredKernel& stored = snapshot.kernels[known.kernel->index];
  auto spec = usable_kernel(stored, request, target);
  if (!spec) return;  // add_neighbours() comes to it as well, and says why
  Choice choice = timed_choice(*spec, stored, *known.kernel);
  choice.reason =
      fmt::format("{:.2f} us and {:.2f} times as fast as cuBLASLt, {}", known.kernel->time_us,
                  known.kernel->lead, to_string(known.kernel->origin));
  decision.choices.push_back(std::move(choice));
}

// The kernel of the same problem with more rows, if it is ahead even of what cuBLASLt takes for
// fewer.
void add_of_more_rows(const Snapshot& snapshot, const Request& request, const Target& target,
                      Decision& decision) {
  const auto bounds = find_row_bounds(snapshot, request.problem, request.reads_c);
  if (!bounds || bounds->vendor_us < kLeadOfMoreRows * (bounds->own_us + more_for_c_us(request)))
    return;
  const KnownKernel& known = *snapshot.known[bounds->more].kernel;
  const StoredKernel& stored = snapshot.kernels[known.index];
  auto spec = usable_kernel(stored, request, target);
  if (!spec) return;  // add_neighbours() comes to it as well, and says why
  Choice choice = kernel_choice(*spec, stored);
  choice.neighbour = snapshot.problems[bounds->more];
  choice.stale = known.stale;
  choice.reason = fmt::format("{:.2f} us for {} rows, where cuBLASLt takes {:.2f} for {} or {}, {}",
                              bounds->own_us, choice.neighbour->shape.m, bounds->vendor_us,
                              snapshot.problems[bounds->fewer].shape.m, choice.neighbour->shape.m,
                              to_string(known.origin));
  decision.choices.push_back(std::move(choice));
}

// Whether the kernel of a similar problem is ahead of the vendor by enough.
bool leads_at_similar(const SimilarLead& similar, const Request& request) {
  return similar.vendor_us >= kLeadAtSimilar * (similar.own_us + more_for_c_us(request));
}

// Whether a kernel is as accurate for other sizes as where it was measured. How large the errors of
// split products become that are added up on the tensor cores goes by the sizes, and so do
// cuBLAS's.
bool stays_accurate(const codegen::KernelSpec& spec) {
  return !is_split(spec.math) || spec.tile.promotion <= 1;
}

// The kernel of the nearest problem of this kind, if it is so far ahead there that it is here.
void add_of_similar(const Snapshot& snapshot, const Request& request, const Target& target,
                    Decision& decision) {
  for (const SimilarLead& similar : similar_leads(snapshot, request.problem)) {
    if (!leads_at_similar(similar, request)) return;
    const KnownKernel& known = *snapshot.known[similar.number].kernel;
    const StoredKernel& stored = snapshot.kernels[known.index];
    auto spec = usable_kernel(stored, request, target);
    if (!spec || !stays_accurate(*spec)) continue;
    Choice choice = kernel_choice(*spec, stored);
    choice.neighbour = snapshot.problems[similar.number];
    choice.similar = similar;
    choice.reason = fmt::format("{:.2f} times as fast as cuBLASLt for {}, {}",
                                similar.vendor_us / similar.own_us, key(*choice.neighbour),
                                to_string(known.origin));
    decision.choices.push_back(std::move(choice));
    return;
  }
}

struct Neighbour {
  double distance = 0;
  uint32_t number = 0;

  bool operator<(const Neighbour& other) const {
    return std::pair(distance, number) < std::pair(other.distance, other.number);
  }
};

double distance(const Problem& a, const Problem& b) {
  const auto part = [](int64_t x, int64_t y) {
    return std::log(static_cast<double>(x) / static_cast<double>(y));
  };
  const double sizes = std::hypot(part(a.shape.m, b.shape.m), part(a.shape.n, b.shape.n),
                                  part(a.shape.k, b.shape.k));
  return sizes + std::abs(part(a.batch, b.batch)) + (a.layout == b.layout ? 0 : kLayoutDistance) +
         (a.epilogue == b.epilogue ? 0 : kEpilogueDistance);
}

// Problems with a kernel that multiplies in the same types and mode, nearest first.
std::vector<Neighbour> neighbours(const Snapshot& snapshot, const Problem& problem) {
  std::vector<Neighbour> found;
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    const Problem& other = snapshot.problems[number];
    if (!snapshot.known[number].kernel || other.type != problem.type ||
        other.accumulator != problem.accumulator || other.math != problem.math ||
        other.result != problem.result) {
      continue;
    }
    found.push_back({distance(problem, other), number});
  }
  const size_t looked = std::min(kNeighboursLooked, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(looked),
                    found.end());
  found.resize(looked);
  return found;
}

bool is_chosen(const Decision& decision, const StoredKernel& stored) {
  return std::any_of(decision.choices.begin(), decision.choices.end(),
                     [&](const Choice& choice) { return choice.stored == &stored; });
}

// Kernels that won other problems, or this one elsewhere.
void add_neighbours(const Snapshot& snapshot, const Request& request, const Target& target,
                    Decision& decision) {
  std::vector<uint32_t> seen;  // kernels
  for (const Neighbour& neighbour : neighbours(snapshot, request.problem)) {
    const KnownKernel& known = *snapshot.known[neighbour.number].kernel;
    if (seen.size() == kNeighboursKept) break;
    if (std::find(seen.begin(), seen.end(), known.index) != seen.end()) continue;
    const StoredKernel& stored = snapshot.kernels[known.index];
    const Problem& other = snapshot.problems[neighbour.number];
    const bool is_this = other == request.problem;
    if (is_this && is_direct(known.origin)) continue;  // add_measured() has dealt with it
    if (is_chosen(decision, stored)) continue;
    seen.push_back(known.index);
    const auto spec = usable_kernel(stored, request, target);
    if (!spec) {
      decision.rejections.push_back({name_of(stored), spec.error().message});
      continue;
    }
    Choice choice = is_this ? timed_choice(*spec, stored, known) : kernel_choice(*spec, stored);
    if (is_this) {
      choice.reason = fmt::format("{:.2f} us, {}", known.time_us, to_string(known.origin));
    } else {
      choice.neighbour = other;
      choice.stale = known.stale;
      choice.reason = fmt::format("won {}, {}", key(other), to_string(known.origin));
    }
    decision.choices.push_back(std::move(choice));
  }
}

// The first that is legal, in the math mode asked for or, on an arch that lacks its instructions,
// as exactly as f32 is.
void add_fallback(const Request& request, const Target& target, Decision& decision) {
  const auto arch = newest_arch(target.arch);
  if (!arch) return;
  Request exact = request;
  if (exact.problem.type == DataType::f32) exact.problem.math = MathMode::ieee;
  for (const Request& wanted : {request, exact}) {
    for (const FallbackKernel& kernel : fallback_kernels()) {
      auto spec = usable_kernel(kernel.strategy, kernel.config, *arch, wanted, target);
      if (!spec) continue;
      Choice choice;
      choice.route = Choice::Route::kernel;
      choice.spec = *spec;
      choice.reason = "for problems of which nothing is known: legal for all, tuned for none";
      decision.choices.push_back(std::move(choice));
      return;
    }
  }
  decision.rejections.push_back(
      {"own kernels", "none computes this type on " + to_string(target.arch)});
}

// Why the vendor's library does not come into question for the request; empty if it does.
std::string why_no_vendor(const Request& request, const Target& target) {
  if (!target.vendor) return "not to be used, as asked for";
  if (request.any_bias_address) {
    return fmt::format("takes only biases that are aligned to {} bytes", vendor::kBiasAlignment);
  }
  const auto epilogue = vendor::check_epilogue(request.problem);
  return epilogue ? std::string() : epilogue.error().message;
}

}  // namespace

bool leads_elsewhere(const KnownKernel& kernel, const Request& request) {
  if (kernel.origin != Origin::same_size) return false;
  const double least = kernel.stale ? kStaleLeadElsewhere : kLeadElsewhere;
  return kernel.lead * kernel.time_us >= least * (kernel.time_us + more_for_c_us(request));
}

Decision decide(const Snapshot& snapshot, const Request& request, const Target& device) {
  Target target = device;
  const std::string no_vendor = why_no_vendor(request, device);
  target.vendor = no_vendor.empty();
  // Nobody could be told how large a workspace such a call needs.
  if (request.any_bias_address) target.max_workspace_bytes = 0;
  Decision decision;
  const uint32_t number = snapshot.problems.find(request.problem);
  if (number != ProblemIndex::kNone)
    add_measured(snapshot, snapshot.known[number], request, target, decision);
  if (decision.choices.empty()) add_other_alignments(snapshot, request, target, decision);
  if (decision.choices.empty() && number != ProblemIndex::kNone)
    add_from_other_model(snapshot, snapshot.known[number], request, target, decision);
  if (decision.choices.empty()) add_of_more_rows(snapshot, request, target, decision);
  if (decision.choices.empty()) add_of_similar(snapshot, request, target, decision);
  if (target.vendor) {
    Choice choice;
    choice.reason = decision.choices.empty() ? "nothing was measured for this problem here"
                                             : "what cuBLASLt chooses by itself";
    decision.choices.push_back(std::move(choice));
  } else {
    decision.rejections.push_back({"cuBLASLt", no_vendor});
  }
  add_neighbours(snapshot, request, target, decision);
  add_fallback(request, target, decision);
  return decision;
}

std::string describe(const Choice& choice) {
  switch (choice.route) {
    case Choice::Route::kernel:
      return fmt::format("{} {}", choice.spec.strategy->name(), to_string(choice.spec.tile));
    case Choice::Route::vendor_algorithm:
      return "cuBLASLt " + choice.vendor_config;
    case Choice::Route::vendor_default:
      return "cuBLASLt's default";
  }
  return "";
}

}  // namespace gemmtune::dispatch
