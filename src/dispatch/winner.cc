#include "dispatch/winner.h"

#include <utility>

namespace gemmtune::dispatch {
namespace {

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

// The problem whose kernel a choice is: that of the request, or the same with another alignment;
// null where it is neither, or not measured against the vendor.
const Known* find_rival(const Snapshot& snapshot, const Request& request, const Choice& choice) {
  Problem problem = request.problem;
  if (choice.neighbour) problem.align_bytes = choice.neighbour->align_bytes;
  if (choice.neighbour && *choice.neighbour != problem) return nullptr;
  const Known* const known = find_measured(snapshot, problem);
  if (known == nullptr || !known->kernel || !known->vendor) return nullptr;
  const bool is_it = is_direct(known->kernel->origin) && is_direct(known->vendor->origin) &&
                     choice.stored == &snapshot.kernels[known->kernel->index];
  return is_it ? known : nullptr;
}

// Of two that were compared, whether the kernel has a gain worth taking.
bool is_ahead(const Known& known) {
  return known.vendor->time_us >= kLeastGain * known.kernel->rank_us;
}

// A first choice that decide() took from another model.
Winner winner_elsewhere(const Snapshot& snapshot, const Request& request, Choice choice) {
  const KnownKernel& kernel = *snapshot.known[snapshot.problems.find(request.problem)].kernel;
  return {std::move(choice), kernel.time_us, kernel.lead * kernel.time_us};
}

// Why the first choice is no winning kernel.
std::string why_none(const Snapshot& snapshot, const Known* known, const Decision& decision) {
  if (known == nullptr) return std::string(kNotTuned);
  if (!known->kernel || !is_direct(known->kernel->origin)) return "no own kernel was measured";
  if (!known->vendor || !is_direct(known->vendor->origin)) return "never compared with cuBLASLt";
  const bool lost = decision.choices.size() > 1 &&
                    decision.choices[1].stored == &snapshot.kernels[known->kernel->index];
  if (lost) return "cuBLASLt is faster";
  if (!is_ahead(*known)) return "cuBLASLt is as fast";
  // What was measured comes first among the rejections.
  return "its kernel " +
         (decision.rejections.empty() ? "is not available" : decision.rejections.front().why);
}

}  // namespace

Outcome<Winner> winner(const Snapshot& snapshot, const Request& request, const Target& target) {
  Decision decision = decide(snapshot, request, target);
  if (!decision.choices.empty() && decision.choices.front().route == Choice::Route::kernel) {
    Choice& first = decision.choices.front();
    if (first.origin == Origin::same_size && !first.neighbour)
      return winner_elsewhere(snapshot, request, std::move(first));
    const Known* const known = find_rival(snapshot, request, first);
    if (known != nullptr && is_ahead(*known))
      return Winner{std::move(first), known->kernel->time_us, known->vendor->time_us};
  }
  return none(why_none(snapshot, find_measured(snapshot, request.problem), decision));
}

}  // namespace gemmtune::dispatch
