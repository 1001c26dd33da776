#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/problem.h"
#include "dispatch/lent_tiles.h"
#include "dispatch/snapshot.h"

namespace gemmtune::dispatch {

// The same problem with `m` rows; entries of a batch that lay one behind the other still do.
Problem with_rows(const Problem& problem, int64_t m);

// Numbers, in the snapshot, of the problems nearest to `problem` that differ from it in their rows
// only: with fewer and with more, of those that `counts(number)` takes.
struct NearestRows {
  std::optional<uint32_t> fewer;
  std::optional<uint32_t> more;
};
NearestRows nearest_rows(const Snapshot& snapshot, const Problem& problem,
                         const std::function<bool(uint32_t)>& counts);

// What two measured problems say of one between them, which differs from both in its rows only. A
// kernel made for more rows takes no longer for fewer, as long as its tiles do not stick far out of
// A (Strategy::slow_rows), and cuBLASLt for more no less.
struct RowBounds {
  uint32_t fewer = 0;  // numbers of the problems in the snapshot: the nearest with fewer rows,
  uint32_t more = 0;   // and the nearest with more, which has a kernel
  FastTiles fast;      // of that kernel
  // The most that kernel takes, and the least that cuBLASLt does: the smaller one of its times for
  // both, or about that for more where its tiles are as many.
  Lead lead;
};

// Nothing unless both were measured on devices of this model, or both on another with as many SMs,
// each with cuBLASLt; and where rows of A do not lie one behind the other: its leading dimension,
// and with it what kernels are legal, goes by their number then. `problem` is comparable(); a
// product that reads C is asked for on its own.
std::optional<RowBounds> find_row_bounds(const Snapshot& snapshot, const Problem& problem,
                                         bool reads_c);

}  // namespace gemmtune::dispatch
