#include "dispatch/row_bounds.h"

#include <algorithm>
#include <utility>

#include "dispatch/product_kind.h"

namespace gemmtune::dispatch {
namespace {

// The least that the vendor takes for the problem, by what it takes for `fewer` and `more` rows.
double least_vendor_us(const Problem& problem, const Problem& more_rows, double fewer_us,
                       double more_us) {
  constexpr double kLeastShare = 0.95;  // of the time for tiles full, 4 of 145 times excepted
  const auto tiles = [](const Problem& p) {
    return (p.shape.m + kLargeVendorTileRows - 1) / kLargeVendorTileRows;
  };
  const double least_us = std::min(fewer_us, more_us);
  const bool as_many = has_large_vendor_tiles(problem) && tiles(problem) == tiles(more_rows);
  return as_many ? std::max(least_us, kLeastShare * more_us) : least_us;
}

std::optional<RowBounds> row_bounds(const Snapshot& snapshot, const Problem& problem, bool reads_c,
                                    Measured where) {
  const auto [fewer, more] = nearest_rows(snapshot, problem, [&](uint32_t number) {
    const auto& vendor = snapshot.known[number].vendor;
    return vendor && was_measured(vendor->origin, where);
  });
  if (!fewer || !more) return std::nullopt;
  const Known& upper = snapshot.known[*more];
  if (!upper.kernel || !was_measured(upper.kernel->origin, where)) return std::nullopt;
  auto fast = fast_tiles_for_rows(snapshot.kernel_of(*more), problem, reads_c);
  if (fast.tiles.empty()) return std::nullopt;
  const double vendor_us =
      least_vendor_us(problem, snapshot.problems[*more], snapshot.known[*fewer].vendor->time_us,
                      upper.vendor->time_us);
  return RowBounds{*fewer, *more, std::move(fast), {upper.kernel->rank_us, vendor_us}};
}

}  // namespace

Problem with_rows(const Problem& problem, int64_t m) {
  Problem other = problem;
  other.shape.m = m;
  if (problem.stride_a == problem.shape.m * problem.lda) other.stride_a = m * problem.lda;
  if (problem.stride_c == problem.shape.m * problem.ldc) other.stride_c = m * problem.ldc;
  return other;
}

NearestRows nearest_rows(const Snapshot& snapshot, const Problem& problem,
                         const std::function<bool(uint32_t)>& counts) {
  NearestRows nearest;
  for (const uint32_t number : snapshot.problems.of_columns(problem.shape.n, problem.shape.k)) {
    const Problem& other = snapshot.problems[number];
    if (with_rows(other, problem.shape.m) != problem || !counts(number)) continue;
    auto& [fewer, more] = nearest;
    const int64_t m = other.shape.m;
    if (m < problem.shape.m && (!fewer || m > snapshot.problems[*fewer].shape.m)) fewer = number;
    if (m > problem.shape.m && (!more || m < snapshot.problems[*more].shape.m)) more = number;
  }
  return nearest;
}

std::optional<RowBounds> find_row_bounds(const Snapshot& snapshot, const Problem& problem,
                                         bool reads_c) {
  if (problem.layout.a != Order::row_major) return std::nullopt;
  for (const Measured where : {Measured::on_this_model, Measured::on_another}) {
    if (auto bounds = row_bounds(snapshot, problem, reads_c, where)) return bounds;
  }
  return std::nullopt;
}

}  // namespace gemmtune::dispatch
