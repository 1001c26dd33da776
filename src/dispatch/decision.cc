#include "dispatch/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/strategy.h"
#include "dispatch/borrowing.h"
#include "dispatch/fallback.h"
#include "dispatch/reading_c.h"
#include "dispatch/usable_kernel.h"
#include "vendor/cublaslt.h"

namespace gemmtune::dispatch {
namespace {

constexpr size_t kNeighboursLooked = 32;  // that may turn out not to be legal here
constexpr size_t kNeighboursKept = 3;
// A problem of another layout is as far away as one of 20 times the size.
constexpr double kLayoutDistance = 3;
// One with another epilogue as one of 1.6 times the size: its tile serves with any.
constexpr double kEpilogueDistance = 0.5;

std::string name_of(const StoredKernel& stored) {
  return stored.strategy + " " + stored.config;
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

int64_t max_workspace_bytes(const Request& request, int64_t of_handle) {
  return std::min(of_handle, request.max_workspace_bytes.value_or(of_handle));
}

Decision decide(const Snapshot& snapshot, const Request& request, const Target& device) {
  Target target = device;
  const std::string no_vendor = why_no_vendor(request, device);
  target.vendor = no_vendor.empty();
  target.deterministic = device.deterministic || request.deterministic;
  target.max_workspace_bytes = max_workspace_bytes(request, device.max_workspace_bytes);
  // Nobody could be told how large a workspace such a call needs.
  if (request.any_bias_address) target.max_workspace_bytes = 0;
  Decision decision;
  const uint32_t number = snapshot.problems.find(request.problem);
  if (number != ProblemIndex::kNone)
    add_measured(snapshot, snapshot.known[number], request, target, decision);
  if (decision.choices.empty()) borrow(snapshot, request, target, decision);
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
