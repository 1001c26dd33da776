#include "dispatch/row_bounds.h"

#include <algorithm>

#include "codegen/strategy.h"
#include "core/tile_config.h"

namespace gemmtune::dispatch {
namespace {

// Where both problems were measured.
enum class Measured { on_this_model, on_another };

bool was_measured(Origin origin, Measured where) {
  return where == Measured::on_this_model ? is_direct(origin) : origin == Origin::same_size;
}

// Whether a kernel takes longer for so many rows than for a tile full: of 46 that were lent rows,
// 12 were slower than cuBLASLt, all of them with more outside of A than this
// (docs/decisions/0025-tiles-that-end-with-c.md).
bool is_slow_outside(const StoredKernel& kernel, const Problem& problem, bool reads_c) {
  constexpr int64_t kParts = 5;
  const auto strategy = codegen::find_strategy(kernel.strategy);
  const auto tile = parse_tile(kernel.config);
  if (!strategy || !tile || tile->tile_m < 1) return false;
  return kParts * (*strategy)->slow_rows(*tile, problem, reads_c) > tile->tile_m + tile->tile_n;
}

std::optional<RowBounds> row_bounds(const Snapshot& snapshot, const Problem& problem, bool reads_c,
                                    Measured where) {
  const auto [fewer, more] = nearest_rows(snapshot, problem, [&](uint32_t number) {
    const auto& vendor = snapshot.known[number].vendor;
    return vendor && was_measured(vendor->origin, where);
  });
  if (!fewer || !more) return std::nullopt;
  const Known& upper = snapshot.known[*more];
  if (!upper.kernel || !was_measured(upper.kernel->origin, where) ||
      is_slow_outside(snapshot.kernels[upper.kernel->index], problem, reads_c)) {
    return std::nullopt;
  }
  const double vendor_us = std::min(snapshot.known[*fewer].vendor->time_us, upper.vendor->time_us);
  return RowBounds{*fewer, *more, {upper.kernel->rank_us, vendor_us}};
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
  for (uint32_t number = 0; number < snapshot.problems.size(); ++number) {
    const Problem& other = snapshot.problems[number];
    if (!counts(number) || with_rows(other, problem.shape.m) != problem) continue;
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
