#include "dispatch/borrowing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dispatch/estimated_lead.h"
#include "dispatch/lent_tiles.h"
#include "dispatch/power_limit.h"
#include "dispatch/product_kind.h"
#include "dispatch/reading_c.h"
#include "dispatch/row_bounds.h"
#include "dispatch/similar_lead.h"
#include "dispatch/usable_kernel.h"
#include "dispatch/variant_lead.h"

namespace gemmtune::dispatch {
namespace {

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
    const StoredKernel& stored = snapshot.kernel_of(number);
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

// How far ahead of the vendor a kernel has to be on another model with as many SMs: less where
// memory or latency bounds both, more where its source is another by now
// (docs/decisions/0013-other-models.md).
constexpr double kLeadElsewhere = 1.08;
constexpr double kLeadElsewhereFarBelowPeak = 1.02;
constexpr double kStaleLeadElsewhere = 1.15;

double least_lead_elsewhere(const Problem& problem, const Lead& lead, bool stale,
                            const Target& target) {
  if (stale) return kStaleLeadElsewhere;
  return is_far_below_peak(problem, lead.own_us, target.limits) ? kLeadElsewhereFarBelowPeak
                                                                : kLeadElsewhere;
}

// The same of the kernel that won the problem `number`; 1 where it was measured on this model.
double margin_elsewhere(const Snapshot& snapshot, uint32_t number, const Lead& lead,
                        const Target& target) {
  const KnownKernel& kernel = *snapshot.known[number].kernel;
  if (is_direct(kernel.origin)) return 1;
  return least_lead_elsewhere(snapshot.problems[number], lead, kernel.stale, target);
}

// The least lead for what the problem `number` lends: `least`, or more where it was measured on
// another model.
double least_lead_of(const Snapshot& snapshot, uint32_t number, double least, const Lead& lead,
                     const Target& target) {
  const double margin = margin_elsewhere(snapshot, number, lead, target);
  return margin > 1 ? std::max(least, margin) : least;
}

// Whether a kernel is `least` times as fast as the vendor, also where C is read.
bool leads_by(double least, const Lead& lead, const Request& request) {
  return lead.vendor_us >= least * (lead.own_us + more_for_c_us(request));
}

// What was measured for this problem on another model.
void add_from_other_model(const Snapshot& snapshot, const Known& known, const Request& request,
                          const Target& target, Decision& decision) {
  if (!known.kernel || known.kernel->origin != Origin::same_size) return;
  const KnownKernel& kernel = *known.kernel;
  const Lead lead = {kernel.time_us, kernel.lead * kernel.time_us};
  const double least = least_lead_elsewhere(request.problem, lead, kernel.stale, target);
  if (!leads_by(least, lead, request)) return;
  const StoredKernel& stored = snapshot.kernels[kernel.index];
  auto spec = usable_kernel(stored, request, target);
  if (!spec) return;  // add_neighbours() comes to it as well, and says why
  Choice choice = timed_choice(*spec, stored, kernel);
  choice.lead = lead;
  choice.reason = fmt::format("{:.2f} us and {:.2f} times as fast as cuBLASLt, {}", kernel.time_us,
                              kernel.lead, to_string(kernel.origin));
  decision.choices.push_back(std::move(choice));
}

// The kernel that won the problem `number`, by such a tile, as the request may run it; nothing if
// it may not, which add_neighbours() comes to as well, and says why.
std::optional<Choice> lent_choice(const Snapshot& snapshot, uint32_t number,
                                  std::string_view config, const Lead& lead, const Request& request,
                                  const Target& target) {
  const KnownKernel& known = *snapshot.known[number].kernel;
  const StoredKernel& stored = snapshot.kernels[known.index];
  const auto spec = usable_kernel(stored.strategy, config, stored.arch, request, target);
  if (!spec) return std::nullopt;
  Choice choice = kernel_choice(*spec, stored);
  choice.neighbour = snapshot.problems[number];
  choice.lead = lead;
  choice.stale = known.stale;
  choice.reason =
      fmt::format("{:.2f} times as fast as cuBLASLt for {}, {}", lead.vendor_us / lead.own_us,
                  key(*choice.neighbour), to_string(known.origin));
  return choice;
}

// By its own tile.
std::optional<Choice> lent_choice(const Snapshot& snapshot, uint32_t number, const Lead& lead,
                                  const Request& request, const Target& target) {
  return lent_choice(snapshot, number, snapshot.kernel_of(number).config, lead, request, target);
}

// By each of the tiles that may run.
std::vector<Choice> lent_choices(const Snapshot& snapshot, uint32_t number,
                                 std::span<const TileConfig> tiles, const Lead& lead,
                                 const Request& request, const Target& target) {
  std::vector<Choice> choices;
  for (const TileConfig& tile : tiles) {
    if (auto choice = lent_choice(snapshot, number, to_string(tile), lead, request, target))
      choices.push_back(*std::move(choice));
  }
  return choices;
}

// The tiles that take little longer for the request's rows than for tiles full.
FastTiles fast_tiles(const Snapshot& snapshot, uint32_t number, const Request& request) {
  return fast_tiles_for_rows(snapshot.kernel_of(number), request.problem, request.reads_c);
}

// The same of a kernel that is lent by its estimated time. Of few columns and of batches any tile:
// the leads that are asked for there go by times with any part of a tile outside of A.
FastTiles estimated_tiles(const Snapshot& snapshot, uint32_t number, const Request& request) {
  if (request.problem.batch == 1 && !has_few_columns(request.problem))
    return fast_tiles(snapshot, number, request);
  return {tiles_for_rows(snapshot.kernel_of(number), request.problem, request.reads_c)};
}

// Of the bounds that problems with fewer and more rows give (docs/performance.md, "Numbers of rows
// that were not tuned").
constexpr double kLeadOfMoreRows = 1.02;

// The kernel of `problem`, the request's or a variant of it, with more rows, if it is ahead even of
// what cuBLASLt takes for fewer.
void add_of_more_rows(const Snapshot& snapshot, const Problem& problem, const Request& request,
                      const Target& target, Decision& decision) {
  const auto bounds = find_row_bounds(snapshot, problem, request.reads_c);
  if (!bounds) return;
  const Lead& lead = bounds->lead;
  const double least = least_lead_of(snapshot, bounds->more, kLeadOfMoreRows, lead, target);
  if (!leads_by(least * bounds->fast.longer, lead, request)) return;
  for (Choice& choice :
       lent_choices(snapshot, bounds->more, bounds->fast.tiles, lead, request, target)) {
    choice.fewer_rows = snapshot.problems[bounds->fewer];
    choice.reason = fmt::format(
        "{:.2f} us for {} rows, where cuBLASLt takes {:.2f} for {} or {}, {}", lead.own_us,
        choice.neighbour->shape.m, lead.vendor_us, choice.fewer_rows->shape.m,
        choice.neighbour->shape.m, to_string(snapshot.known[bounds->more].kernel->origin));
    decision.choices.push_back(std::move(choice));
  }
}

// How far ahead the kernel of a variant has to be.
double least_lead_at(const Problem& variant, const Lead& lead, const Target& target) {
  return may_be_at_power_limit(variant, lead.own_us, target.limits) ? kLeadAtVariantAtLimit
                                                                    : kLeadAtVariant;
}

// The kernel of the nearest variant, if it is ahead there.
void add_of_variant(const Snapshot& snapshot, const Request& request, const Target& target,
                    Decision& decision) {
  for (const auto& [number, differences, lead] : variant_leads(snapshot, request.problem)) {
    const double there = least_lead_at(snapshot.problems[number], lead, target);
    if (!leads_by(least_lead_of(snapshot, number, there, lead, target), lead, request)) return;
    auto choice = lent_choice(snapshot, number, lead, request, target);
    if (!choice) continue;
    decision.choices.push_back(*std::move(choice));
    return;
  }
}

// The kernel of a variant with more rows, in the same way as the request's own.
void add_of_variants_with_more_rows(const Snapshot& snapshot, const Request& request,
                                    const Target& target, Decision& decision) {
  for (const Problem& variant : usual_variants(request.problem)) {
    add_of_more_rows(snapshot, variant, request, target, decision);
    if (!decision.choices.empty()) return;
  }
}

// Whether a kernel is as accurate for other sizes as where it was measured. How large the errors of
// split products become that are added up on the tensor cores goes by the sizes, and so do
// cuBLAS's.
bool stays_accurate(const codegen::KernelSpec& spec) {
  return !is_split(spec.math) || spec.tile.promotion <= 1;
}

// The kernel that should be the fastest by what problems of this kind took somewhere, if it should
// be ahead of the vendor, or `least` times as fast where that is given; on another model by as much
// more as a kernel has to be ahead there.
std::vector<Choice> choices_by_estimate(const Snapshot& snapshot, const Request& request,
                                        const Target& target, Measured where,
                                        std::optional<double> least) {
  for (const auto& [number, lead, usual] : estimated_leads(snapshot, request, target, where)) {
    const double there = least ? *least * margin_elsewhere(snapshot, number, lead, target)
                               : least_lead_of(snapshot, number, usual, lead, target);
    if (!leads_by(there, lead, request)) continue;
    const auto [tiles, longer] = estimated_tiles(snapshot, number, request);
    if (!leads_by(there * longer, lead, request)) continue;
    auto choices = lent_choices(snapshot, number, tiles, lead, request, target);
    for (Choice& choice : choices) {
      choice.reason = fmt::format(
          "should take {:.2f} us by its time for {}, and cuBLASLt {:.2f}, {}", lead.own_us,
          key(*choice.neighbour), lead.vendor_us, to_string(snapshot.known[number].kernel->origin));
    }
    if (!choices.empty()) return choices;
  }
  return {};
}

// The kernel of the nearest problem of this kind, if it is so far ahead there that it is here.
void add_of_similar(const Snapshot& snapshot, const Request& request, const Target& target,
                    Decision& decision) {
  for (const auto& [number, distance, lead] : similar_leads(snapshot, request.problem)) {
    if (!leads_by(least_lead_of(snapshot, number, kLeadAtSimilar, lead, target), lead, request))
      return;
    const FastTiles fast = fast_tiles(snapshot, number, request);
    auto choices = lent_choices(snapshot, number, fast.tiles, lead, request, target);
    if (choices.empty() || !stays_accurate(choices.front().spec)) continue;
    std::move(choices.begin(), choices.end(), std::back_inserter(decision.choices));
    return;
  }
}

}  // namespace

std::vector<Choice> borrow_of_other_rows(const Snapshot& snapshot, const Request& request,
                                         const Target& target) {
  const int64_t m = request.problem.shape.m;
  if (request.problem.layout.a != Order::row_major) return {};  // as find_row_bounds()
  const auto [fewer, more] = nearest_rows(snapshot, request.problem, [&](uint32_t number) {
    const int64_t rows = snapshot.problems[number].shape.m;
    const auto& [kernel, vendor] = snapshot.known[number];
    return rows <= 2 * m && 2 * rows >= m && kernel && vendor && !kernel->stale &&
           is_direct(kernel->origin) && is_direct(vendor->origin);
  });
  const auto lender = more ? more : fewer;
  if (!lender) return {};
  const Known& known = snapshot.known[*lender];
  const auto tiles = tiles_for_rows(snapshot.kernel_of(*lender), request.problem, request.reads_c);
  return lent_choices(snapshot, *lender, tiles, {known.kernel->rank_us, known.vendor->time_us},
                      request, target);
}

std::vector<Choice> borrow_by_estimate(const Snapshot& snapshot, const Request& request,
                                       const Target& target, std::optional<double> least) {
  auto choices = choices_by_estimate(snapshot, request, target, Measured::on_this_model, least);
  if (!choices.empty()) return choices;
  return choices_by_estimate(snapshot, request, target, Measured::on_another, least);
}

void borrow(const Snapshot& snapshot, const Request& request, const Target& target,
            Decision& decision) {
  const uint32_t number = snapshot.problems.find(request.problem);
  add_other_alignments(snapshot, request, target, decision);
  if (decision.choices.empty() && number != ProblemIndex::kNone)
    add_from_other_model(snapshot, snapshot.known[number], request, target, decision);
  if (decision.choices.empty())
    add_of_more_rows(snapshot, request.problem, request, target, decision);
  if (decision.choices.empty()) add_of_variant(snapshot, request, target, decision);
  if (decision.choices.empty()) add_of_variants_with_more_rows(snapshot, request, target, decision);
  if (decision.choices.empty())
    decision.choices = borrow_by_estimate(snapshot, request, target, std::nullopt);
  if (decision.choices.empty()) add_of_similar(snapshot, request, target, decision);
}

}  // namespace gemmtune::dispatch
