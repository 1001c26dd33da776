#pragma once

#include <optional>

#include "core/problem.h"
#include "dispatch/decision.h"
#include "dispatch/snapshot.h"

// What a problem should take by what another one took, of products that read their weights once
// (docs/decisions/0036-estimated-times.md).
namespace gemmtune::dispatch {

// Whether the k of a tile is shared out among blocks or warps: such times carry over less well.
bool shares_k_out(const TileConfig& tile);

// The most that a kernel should take, by what it took for `other`; nothing for one that may not
// run, could not win, or whose times do not carry over.
std::optional<double> scaled_own_us(const StoredKernel& kernel, double us, const Problem& other,
                                    const Problem& problem, const Target& target);

}  // namespace gemmtune::dispatch
