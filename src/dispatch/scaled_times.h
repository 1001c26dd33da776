#pragma once

#include <cmath>
#include <optional>

#include "core/problem.h"
#include "dispatch/decision.h"
#include "dispatch/snapshot.h"
#include "vendor/algorithm_names.h"

// What a problem should take by what another one took, of products that read their weights once
// (docs/decisions/0036-estimated-times.md).
namespace gemmtune::dispatch {

// Products of more rows compute for longer than they read.
inline constexpr int64_t kMostRowsReadOnce = 256;

// Whether the k of a tile is shared out among blocks or warps: such times carry over less well.
bool shares_k_out(const TileConfig& tile);

// The most that a kernel should take, by what it took for `other`; nothing for one that may not
// run, could not win, or whose times do not carry over.
std::optional<double> scaled_own_us(const StoredKernel& kernel, double us, const Problem& other,
                                    const Problem& problem, const Target& target);

// The least that the vendor should take, by what it took for `other` with an algorithm of such a
// tile; nothing: it is not known.
double scaled_vendor_us(const std::optional<vendor::AlgorithmTile>& tile, double us,
                        const Problem& other, const Problem& problem, int sm_count);

// How fast the vendor was at most for any of many problems, its fixed time apart: by bytes, and
// where it has but one tile, and shares no k out, by what an SM computes.
class VendorRates {
 public:
  void count(const Problem& problem, const std::optional<vendor::AlgorithmTile>& tile, double us,
             int sm_count);

  // The least that it takes for a problem; 0 where too few were counted.
  double least_us(const Problem& problem, int sm_count) const;

 private:
  int count_ = 0;
  bool has_one_tile_ = true;
  double us_per_byte_ = INFINITY;
  double us_per_depth_ = INFINITY;
  std::optional<vendor::AlgorithmTile> tile_;
};

}  // namespace gemmtune::dispatch
