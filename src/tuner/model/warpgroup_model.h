#pragma once

#include "codegen/kernel_cost.h"
#include "codegen/kernel_spec.h"

namespace gemmtune::tuner {

// What decides the time of wgmma kernels beside their products: copies by TMA, clusters, and
// results. Fitted to 12,700 measurements of 55 16-bit problems on an H200
// (docs/performance.md, "Search").

bool by_warpgroups(const codegen::MainloopCost& loop);

// From the request of a tile to its arrival, under load.
inline constexpr double kTensorCopyLatencyCycles = 2500;

// Cycles in which an SM takes in a k tile of both operands.
double tile_transfer_cycles(const codegen::KernelSpec& spec, const codegen::MainloopCost& loop);

// Cycles of an SM whose products take `busy` and whose copies take `waiting`, if both could always
// overlap. A product waits for its own stage, so that copies with little time to spare are late now
// and then.
double with_late_copies(double busy, double waiting);

// Share of a card's SMs that blocks in clusters reach, one on an SM: a cluster's blocks run on one
// group of SMs, whose number larger clusters do not divide.
double reachable_share(const TileConfig& tile);

// Cycles that an SM's tensor cores wait while a block stores its results: none, if other consumers
// multiply meanwhile.
double store_cycles(const TileConfig& tile);

}  // namespace gemmtune::tuner
