#include "dispatch/winner.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "dispatch/borrowing.h"
#include "dispatch/reading_c.h"
#include "dispatch/usable_kernel.h"

namespace gemmtune::dispatch {
namespace {

// Why a kernel that is ahead otherwise does not take a product's place.
constexpr std::string_view kReadingC = "not ahead by enough where C is read";
constexpr std::string_view kAtPowerLimit = "not ahead by enough for a card at its power limit";

tl::unexpected<Failure> none(std::string why) {
  return fail(GEMMTUNE_STATUS_NO_KERNEL, std::move(why));
}

// What was measured of a problem; null for nothing.
const Known* find_measured(const Snapshot& snapshot, const Problem& problem) {
  const uint32_t number = snapshot.problems.find(problem);
  if (number == ProblemIndex::kNone) return nullptr;
  const Known& known = snapshot.known[number];
  const bool measured = (known.kernel && is_direct(known.kernel->origin)) ||
                        (known.vendor && is_direct(known.vendor->origin));
  return measured ? &known : nullptr;
}

// Whether a choice is the kernel that was measured of a problem.
bool is_measured_kernel(const Choice& choice, const Snapshot& snapshot, const Known& known) {
  return known.kernel && is_direct(known.kernel->origin) &&
         choice.stored == &snapshot.kernels[known.kernel->index];
}

// The problem whose kernel a choice is: that of the request, or the same with another alignment;
// null where it is neither, or not measured against the vendor.
const Known* find_rival(const Snapshot& snapshot, const Request& request, const Choice& choice) {
  Problem problem = request.problem;
  if (choice.neighbour) problem.align_bytes = choice.neighbour->align_bytes;
  if (choice.neighbour && *choice.neighbour != problem) return nullptr;
  const Known* const known = find_measured(snapshot, problem);
  if (known == nullptr || !known->vendor || !is_direct(known->vendor->origin)) return nullptr;
  return is_measured_kernel(choice, snapshot, *known) ? known : nullptr;
}

// Of two that were compared, whether the kernel has a gain worth taking.
bool is_ahead(const Known& known, const Request& request) {
  const double own_us = known.kernel->rank_us + more_for_c_us(request);
  return known.vendor->time_us >= kLeastGain * own_us;
}

// Why the first choice is no winning kernel.
std::string why_none(const Snapshot& snapshot, const Request& request, const Decision& decision) {
  const Known* const known = find_measured(snapshot, request.problem);
  if (known == nullptr) return std::string(kNotTuned);
  if (!known->kernel || !is_direct(known->kernel->origin)) return "no own kernel was measured";
  if (!known->vendor || !is_direct(known->vendor->origin)) return "never compared with cuBLASLt";
  const double vendor_us = known->vendor->time_us;
  const bool may_run = std::any_of(
      decision.choices.begin(), decision.choices.end(),
      [&](const Choice& choice) { return is_measured_kernel(choice, snapshot, *known); });
  if (may_run && vendor_us < known->kernel->rank_us) return "cuBLASLt is faster";
  if (may_run && vendor_us < kLeastGain * known->kernel->rank_us) return "cuBLASLt is as fast";
  if (may_run) return std::string(request.reads_c ? kReadingC : kAtPowerLimit);
  // What was measured comes first among the rejections.
  return "its kernel " +
         (decision.rejections.empty() ? "is not available" : decision.rejections.front().why);
}

// Choices that say themselves how far ahead they are.
std::vector<Winner> with_leads(std::span<const Choice> choices) {
  std::vector<Winner> found;
  for (const Choice& choice : choices) {
    if (choice.lead) found.push_back({choice, choice.lead->own_us, choice.lead->vendor_us});
  }
  return found;
}

// The kernel that beat all algorithms, with what is to run where it is not available.
std::vector<Winner> ahead_of_all(const Snapshot& snapshot, const Request& request,
                                 const Decision& decision) {
  if (decision.choices.empty() || decision.choices.front().route != Choice::Route::kernel)
    return {};
  const Choice& first = decision.choices.front();
  if (first.lead) return with_leads(decision.choices);
  const Known* const known = find_rival(snapshot, request, first);
  if (known == nullptr || !is_ahead(*known, request)) return {};
  return {{first, known->kernel->time_us, known->vendor->time_us}};
}

// What a measured choice counts as where it is compared with the heuristic's first algorithm; 0 for
// one that does not come into question.
double compared_us(const Choice& choice, const Snapshot& snapshot, const Known& known,
                   const Request& request, const Target& target) {
  if (is_measured_kernel(choice, snapshot, known))
    return counted_us(*known.kernel, request.problem, target) + more_for_c_us(request);
  const bool is_algorithm = choice.route == Choice::Route::vendor_algorithm && !request.reads_c;
  return is_algorithm ? known.vendor->time_us : 0;
}

// What beat the heuristic's first algorithm, the faster one first.
std::vector<Winner> ahead_of_first(const Snapshot& snapshot, const Request& request,
                                   const Target& target, const Decision& decision) {
  std::vector<Winner> found;
  const Known* const known = find_measured(snapshot, request.problem);
  if (known == nullptr || !known->vendor || !is_direct(known->vendor->origin)) return found;
  const double first_us = known->vendor->first_us;
  for (const Choice& choice : decision.choices) {
    if (choice.neighbour) continue;
    const double us = compared_us(choice, snapshot, *known, request, target);
    if (us > 0 && first_us >= kLeastGain * us)
      found.push_back({choice, choice.expected_us.value_or(us), first_us});
  }
  return found;
}

// Where cuBLASLt's fastest algorithm is not to be had, a kernel need not be ahead of it.
bool is_level(double own_us, double vendor_us, const Request& request) {
  return own_us + more_for_c_us(request) < kLeastGain * vendor_us;
}

// Those of integers that cuBLASLt is left with without its workspace were never ahead of a kernel
// that should take up to twice its fastest one's time (docs/decisions/0033-less-workspace.md).
constexpr double kLeadWithoutWorkspace = 0.5;

// That of another number of rows, else of another n and k. Its tiles may fill the device worse than
// there, so the algorithms that cuBLASLt is left with have to be far behind: those for integers
// are.
Outcome<std::vector<Winner>> level_kernels_of_others(const Snapshot& snapshot,
                                                     const Request& request, const Target& target) {
  if (request.problem.accumulator != DataType::i32) return none(std::string(kNotTuned));
  auto choices = borrow_of_other_rows(snapshot, request, target);
  if (choices.empty())
    choices = borrow_by_estimate(snapshot, request, target, kLeadWithoutWorkspace);
  if (choices.empty()) return none(std::string(kNotTuned));
  return with_leads(choices);
}

}  // namespace

Outcome<std::vector<Winner>> winners(const Snapshot& snapshot, const Request& request,
                                     const Target& target) {
  Decision decision = decide(snapshot, request, target);
  std::vector<Winner> found = ahead_of_all(snapshot, request, decision);
  if (found.empty()) found = ahead_of_first(snapshot, request, target, decision);
  if (found.empty()) return none(why_none(snapshot, request, decision));
  return found;
}

Outcome<std::vector<Winner>> level_kernels(const Snapshot& snapshot, const Request& request,
                                           const Target& target) {
  const Known* const known = find_measured(snapshot, request.problem);
  if (known == nullptr) return level_kernels_of_others(snapshot, request, target);
  if (!known->kernel || !known->vendor || !is_direct(known->vendor->origin))
    return none("never compared with cuBLASLt");
  if (!is_level(known->kernel->rank_us, known->vendor->time_us, request))
    return none("cuBLASLt is faster");
  for (const Choice& choice : decide(snapshot, request, target).choices) {
    if (!choice.neighbour && is_measured_kernel(choice, snapshot, *known))
      return std::vector{Winner{choice, known->kernel->time_us, known->vendor->time_us}};
  }
  return none("its kernel is not available");
}

}  // namespace gemmtune::dispatch
